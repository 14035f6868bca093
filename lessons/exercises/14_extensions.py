"""Exercise of lesson 14: a checksum in C, in place of a Python loop.

The C stands in a string. The grader takes it out of this file without running any of its Python, compiles it with gcc
(-O2), and calls it with the bytes of a tensor. It is checked first, in a build that stops where C leaves undefined what
happens, and then timed in one that does not look.

Check your work with      python -m grader check 14_extensions
"""

# ------------------------------------------------------------------------------------------------------------
# The task, 10 points
#
# checksum(data, size) returns the CRC-32 of `size` bytes, as in zip and PNG files; zlib.crc32 gives the same:
#
#     begin with crc = 0xFFFFFFFF
#     for each byte: crc ^= byte, and then eight times: if its lowest bit is 1, shift crc right by one bit and ^=
#     0xEDB88320, else only shift it
#     return crc with all of its bits turned
#
# There may be no byte at all: the answer is 0, and nothing may be read. `data` may have any address, odd ones too, and
# what lies before and behind it is not yours to read. All that <stddef.h>, <stdint.h> and <string.h> have may be used.
#
# It is timed on 131072 bytes.
#
# Points: 4 of 10 for right answers, 7 when 2 times as fast as C that takes these steps bit by bit, all 10 at 6 times.

checksum = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#error Take this line out, and write the function.

uint32_t checksum(const uint8_t *data, size_t size) {
  return 0;
}
"""
