/* Counts the words of a made-up text: the program behind the counts of the task `culprit`.

   Compiled with -DWORSE=n it has one function made worse: 0 none, 1 hash_word, 2 find_word, 3 sort_words, 4 next_word,
   5 grow_table, 6 check_sum, 7 is_letter. Called as `program SEED WORDS ROWS`, it prints ROWS rows. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WORSE
#define WORSE 0
#endif
#define PLAIN static __attribute__((noinline, noclone))

struct entry { char word[16]; unsigned hash, times; struct entry *next; };
static struct entry **table, *entries;
static unsigned buckets, filled;
static unsigned state;

PLAIN unsigned next_random(void) { state = state * 1664525u + 1013904223u; return state >> 8; }

PLAIN void make_text(char *text, unsigned words)
{
    for (unsigned n = 0; n < words; n++) {
        unsigned kind = next_random() % 400, length = 2 + kind % 5;
        for (unsigned i = 0; i < length; i++)
            *text++ = (n + i) % 7 ? 'a' + (kind * 7 + i * i * 3) % 26 : 'A' + (kind * 7 + i * i * 3) % 26;
        *text++ = next_random() % 9 ? ' ' : '.';
    }
    *text = 0;
}

PLAIN int is_letter(int c)
{
#if WORSE == 7
    const char *known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int i = 0; known[i]; i++)
        if (known[i] == c) return 1;
    return 0;
#else
    return (unsigned)((c | 32) - 'a') < 26;
#endif
}

PLAIN int to_lower(int c) { return is_letter(c) ? c | 32 : c; }

PLAIN const char *next_word(const char *text, char *word)
{
    while (*text && !is_letter(*text)) text++;
    int length = 0;
    for (; is_letter(*text); text++) {
        word[length++] = to_lower(*text);
#if WORSE == 4
        for (int i = 0; i < length; i++) word[i] = to_lower(word[i]);
        for (int i = 0; i < length; i++) word[i] = to_lower(word[i]);
#endif
    }
    word[length] = 0;
    return text;
}

PLAIN unsigned hash_word(const char *word)
{
    unsigned hash = 2166136261u;
#if WORSE == 1
    for (int again = 0; again < 12; again++) {
        hash = 2166136261u;
        for (const char *c = word; *c; c++) {
            hash = (hash ^ *c) * 16777619u;
            __asm__ volatile("");
        }
    }
#else
    for (const char *c = word; *c; c++) hash = (hash ^ *c) * 16777619u;
#endif
    return hash;
}

PLAIN int same_word(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

PLAIN struct entry *find_word(const char *word, unsigned hash)
{
#if WORSE == 2
    for (struct entry *e = entries; e < entries + filled; e++)
        if (same_word(e->word, word)) return e;
    (void)hash;
#else
    for (struct entry *e = table[hash % buckets]; e; e = e->next)
        if (same_word(e->word, word)) return e;
#endif
    return 0;
}

PLAIN void grow_table(unsigned size)
{
    free(table);
    table = calloc(size, sizeof *table);
    buckets = size;
    for (struct entry *e = entries; e < entries + filled; e++) {
#if WORSE == 5
        for (int again = 0; again < 60; again++) e->hash = hash_word(e->word);
#endif
        e->next = table[e->hash % size];
        table[e->hash % size] = e;
    }
}

PLAIN void add_word(const char *word)
{
    unsigned hash = hash_word(word);
    struct entry *e = find_word(word, hash);
    if (!e) {
        if (filled + 8 > buckets) grow_table(buckets + 16);
        e = entries + filled++;
        strcpy(e->word, word);
        e->hash = hash;
        e->times = 0;
        e->next = table[hash % buckets];
        table[hash % buckets] = e;
    }
    e->times++;
}

PLAIN int comes_before(const struct entry *a, const struct entry *b)
{
    return a->times != b->times ? a->times > b->times : strcmp(a->word, b->word) < 0;
}

PLAIN void sort_words(void)
{
#if WORSE == 3
    for (int moved = 1; moved;) {
        moved = 0;
        for (unsigned i = 1; i < filled; i++)
            if (comes_before(entries + i, entries + i - 1)) {
                struct entry held = entries[i];
                entries[i] = entries[i - 1];
                entries[i - 1] = held;
                moved = 1;
            }
    }
#else
    for (unsigned gap = filled / 2; gap; gap /= 2)
        for (unsigned i = gap; i < filled; i++) {
            struct entry held = entries[i];
            unsigned j = i;
            for (; j >= gap && comes_before(&held, entries + j - gap); j -= gap) entries[j] = entries[j - gap];
            entries[j] = held;
        }
#endif
}

PLAIN unsigned check_sum(const char *text)
{
    unsigned low = 1, high = 0;
#if WORSE == 6
    for (; *text; text++)
        for (int bit = 0; bit < 8; bit++) {
            low = (low + (*text >> bit & 1)) % 65521;
            high = (high + low) % 65521;
        }
#else
    for (; *text; text++) low += *text, high += low;
#endif
    return high << 16 | low;
}

PLAIN void show_rows(unsigned rows)
{
    for (unsigned i = 0; i < rows && i < filled; i++)
        printf("%6u %s\n", entries[i].times, entries[i].word);
}

PLAIN void count_words(const char *text)
{
    char word[16];
    while (*(text = next_word(text, word))) add_word(word);
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    unsigned words = atoi(argv[2]);
    char *text = malloc(words * 8 + 1);
    state = atoi(argv[1]);
    entries = calloc(1000, sizeof *entries);
    grow_table(16);
    make_text(text, words);
    count_words(text);
    sort_words();
    show_rows(atoi(argv[3]));
    printf("%08x\n", check_sum(text));
    return 0;
}
