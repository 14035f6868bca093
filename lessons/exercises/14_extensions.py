"""Exercise of lesson 14: a checksum in C instead of a Python loop.

The C code is a string. The grader reads it from this file without running any Python in it. It compiles the code with
the C compiler of the machine (`gcc -O2`, or `cc -O2` without gcc), and calls it with the bytes of a tensor. It first
checks your code in a build that stops at undefined behaviour. Then it times your code in a build without these checks.

Check your work with      fairclock check 14_extensions
"""

# ------------------------------------------------------------------------------------------------------------
# The task, 10 points
#
# checksum(data, size) returns the CRC-32 of `size` bytes, as in zip and PNG files. zlib.crc32 returns the same number:
#
#     begin with crc = 0xFFFFFFFF
#     for each byte: crc ^= byte, and then eight times: if the lowest bit of crc is 1, shift crc right by one bit and
#     crc ^= 0xEDB88320, else only shift it
#     return crc with all of its bits inverted
#
# `size` may be 0. Then the answer is 0, and you must not read any byte. `data` may have any address, also an odd one.
# You must not read bytes outside of the data. You may use everything in <stddef.h>, <stdint.h> and <string.h>.
#
# The function is timed on 131072 bytes.
#
# Points: 4 of 10 for right answers, 7 when 2 times as fast as the baseline, all 10 at 6 times. The baseline is C code
# that does these steps bit by bit.

checksum = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#error Remove this line, and write the function.

uint32_t checksum(const uint8_t *data, size_t size) {
  return 0;
}
"""
