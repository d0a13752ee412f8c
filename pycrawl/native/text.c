/* A page's text in blocks: runs of white space are one space, soft hyphens and NULs are left out. */

#include "scan.h"

#define MOST_BLOCKS (1 << 17) /* further ones are one */
#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

int more_room(void **array, size_t *room, size_t wanted, size_t size) {
    if (wanted <= *room) {
        return 0;
    }
    size_t grown = *room + *room / 2 + 64;
    grown = grown < wanted ? wanted : grown;
    void *larger = realloc(*array, grown * size);
    if (larger == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *array = larger;
    *room = grown;
    return 0;
}

typedef byte Sixteen __attribute__((vector_size(16)));

static inline bool has_any(Sixteen bytes) {
    uint64_t halves[2];
    memcpy(halves, &bytes, 16);
    return halves[0] | halves[1];
}

static inline size_t sum_of(Sixteen bytes) {
    size_t sum = 0;
    for (int place = 0; place < 16; place++) {
        sum += bytes[place];
    }
    return sum;
}

#define PORTION (240 * 16) /* bytes; sixteen counters of a byte each hold what they are to count in so many */

/* Spaces, and all bytes but the first of each character. */
static void count_bytes(const char *text, size_t length, size_t *spaces, size_t *continuing) {
    *spaces = *continuing = 0;
    while (length >= 16) {
        size_t portion = (length < PORTION ? length : PORTION) & ~(size_t)15;
        Sixteen spaces_here = {0}, continuing_here = {0};
        for (const char *behind = text + portion; text < behind; text += 16) {
            Sixteen here;
            memcpy(&here, text, 16);
            spaces_here -= (Sixteen)(here == ' '); /* true is -1 */
            continuing_here -= (Sixteen)((here & 0xC0) == 0x80);
        }
        *spaces += sum_of(spaces_here);
        *continuing += sum_of(continuing_here);
        length -= portion;
    }
    for (; length; length--, text++) {
        *spaces += *text == ' ';
        *continuing += ((byte)*text & 0xC0) == 0x80;
    }
}

/* Characters of two bytes that begin with 0xC2. */
#define NO_BREAK_SPACE 0xA0
#define SOFT_HYPHEN 0xAD

static const bool ends_word[256] = {
    [' '] = true, ['\t'] = true, ['\n'] = true, ['\f'] = true, ['\r'] = true, ['&'] = true, [0xC2] = true, [0] = true,
};

static inline bool is_pair(const byte *text, size_t length, byte second) {
    return length >= 2 && text[0] == 0xC2 && text[1] == second;
}

/* How many bytes from here on, sixteen at a time, need no change: single spaces within a line, and no references. */
static size_t plain_bytes(const byte *from, const byte *end) {
    const byte *at = from;
    while (end - at > 16) {
        Sixteen here, next;
        memcpy(&here, at, 16);
        memcpy(&next, at + 1, 16);
        Sixteen odd = (Sixteen)(here < ' ') | (Sixteen)(here == '&') | (Sixteen)(here == 0xC2) |
                      ((Sixteen)(here == ' ') & (Sixteen)(next <= ' '));
        if (has_any(odd)) {
            break;
        }
        at += 16;
    }
    return (size_t)(at - from);
}

/* What stands at `from`, if it is not a letter: how many bytes it has, and whether it is white space, or nothing. */
static size_t skipped(const byte *from, size_t length, bool *space) {
    if (is_space[*from]) {
        *space = true;
        return 1;
    }
    if (is_pair(from, length, NO_BREAK_SPACE)) {
        *space = true;
        return 2;
    }
    return is_pair(from, length, SOFT_HYPHEN) ? 2 : 0;
}

/* Adds the text between two places to the block that is being read. NULs are left out, or U+FFFD if `keeps_nuls`. */
int add_text(Page *page, const byte *from, const byte *end, bool keeps_nuls) {
    size_t longest = (size_t)(end - from) / 4 * 5 + 32; /* "&nGt;" stands for six bytes */
    if (keeps_nuls) {
        longest += 2 * (size_t)(end - from);
    }
    if (more_room((void **)&page->text, &page->room, page->length + longest, 1) < 0) {
        return -1;
    }
    char *begin = page->text + page->block_begin, *to = page->text + page->length;
    bool space = page->space;
    while (from < end) {
        char referred[8];
        size_t length = 0;
        size_t behind_space = skipped(from, (size_t)(end - from), &space);
        if (behind_space || (*from == 0 && !keeps_nuls)) {
            from += behind_space ? behind_space : 1;
            continue;
        }
        if (*from == '&') {
            const byte *behind = reference(from, end, false, referred, &length);
            if (behind == from) {
                length = 0;
            } else {
                from = behind;
                if (skipped((const byte *)referred, length, &space) == length) {
                    continue;
                }
            }
        } else if (*from == 0) {
            length = sizeof REPLACEMENT - 1;
            memcpy(referred, REPLACEMENT, length);
            from++;
        }
        if (space && to > begin) {
            *to++ = ' ';
        }
        space = false;
        if (length) {
            memcpy(to, referred, length);
            to += length;
            continue;
        }
        do {
            *to++ = (char)*from++;
        } while (from < end && !ends_word[*from]);
        size_t plain = plain_bytes(from, end);
        memcpy(to, from, plain);
        to += plain;
        from += plain;
        if (plain && to[-1] == ' ') { /* more white space may follow */
            to--;
            space = true;
        }
    }
    size_t before = page->length;
    page->length = (size_t)(to - page->text);
    page->space = space;
    if (page->in_link) {
        size_t spaces, continuing, added = page->length - before;
        count_bytes(page->text + before, added, &spaces, &continuing);
        page->link_letters += added - continuing - spaces;
    }
    return 0;
}

int end_block(Page *page) {
    size_t begin = page->block_begin, length = page->length - begin;
    page->space = false;
    if (length == 0) {
        page->link_letters = 0;
        return 0;
    }
    if (page->block_count >= MOST_BLOCKS) {
        page->space = true;
        return 0;
    }
    if (more_room((void **)&page->blocks, &page->block_room, page->block_count + 1, sizeof *page->blocks) < 0 ||
        more_room((void **)&page->text, &page->room, page->length + 1, 1) < 0) {
        return -1;
    }
    size_t spaces, continuing;
    count_bytes(page->text + begin, length, &spaces, &continuing);
    uint32_t box = page->box;
    while (page->boxes[box].unseen) {
        box = page->boxes[box].parent;
    }
    size_t characters = length - continuing, words = spaces + 1;
    bool is_ascii = continuing == 0; /* the first byte of any other character has others behind it */
    if (!is_ascii && characters > (size_t)rules.long_word * words) {
        size_t as_many = characters / (size_t)rules.characters_of_word;
        words = as_many > words ? as_many : words;
    }
    page->blocks[page->block_count++] = (Block){
        .begin = begin, .end = page->length, .letters = characters - spaces, .link_letters = page->link_letters, .words = words,
        .box = box};
    page->text[page->length++] = '\n';
    page->block_begin = page->length;
    page->link_letters = 0;
    return 0;
}

/* The blocks that are kept, each with a line break behind it but the last. */
static PyObject *joined(const Page *page, const bool *kept) {
    size_t length = 0;
    for (size_t place = 0; place < page->block_count; place++) {
        length += kept[place] ? page->blocks[place].end - page->blocks[place].begin + 1 : 0;
    }
    PyObject *content = PyBytes_FromStringAndSize(NULL, length ? (Py_ssize_t)length - 1 : 0);
    char *to = content != NULL ? PyBytes_AsString(content) : NULL, *end = to + (length ? length - 1 : 0);
    for (size_t place = 0; to != NULL && place < page->block_count; place++) {
        if (kept[place]) {
            size_t size = page->blocks[place].end - page->blocks[place].begin;
            memcpy(to, page->text + page->blocks[place].begin, size);
            to += size;
            if (to < end) {
                *to++ = '\n';
            }
        }
    }
    return content;
}

PyObject *content_of(Page *page, bool *kept) {
    size_t count = page->block_count;
    double *worths = malloc((count + 1) * sizeof *worths);
    PyObject *content = NULL;
    if (worths == NULL) {
        PyErr_NoMemory();
    } else if (choose_content(page->boxes, page->box_count, page->blocks, count, kept, worths)) {
        content = joined(page, kept);
    }
    free(worths);
    return content;
}

/* An anchor's text without white space around it, cut to `longest` bytes between two characters; its length. */
static size_t trimmed(const char **text, const char *end, size_t longest) {
    const char *begin = *text;
    while (begin < end && is_space[(byte)*begin]) {
        begin++;
    }
    if ((size_t)(end - begin) > longest) {
        end = begin + longest;
        while (end > begin && ((byte)*end & 0xC0) == 0x80) {
            end--;
        }
    }
    while (end > begin && is_space[(byte)end[-1]]) {
        end--;
    }
    *text = begin;
    return (size_t)(end - begin);
}

PyObject *anchor_texts(const Page *page, size_t longest) {
    size_t size = 0;
    for (size_t number = 0; number < page->anchor_count; number++) {
        size_t length = page->anchors[number].end - page->anchors[number].begin;
        size += (length < longest ? length : longest) + 1;
    }
    char *joined = malloc(size + 1), *to = joined;
    if (joined == NULL) {
        return PyErr_NoMemory();
    }
    for (size_t number = 0; number < page->anchor_count; number++) {
        const char *from = page->text + page->anchors[number].begin;
        size_t length = trimmed(&from, page->text + page->anchors[number].end, longest);
        for (size_t place = 0; place < length; place++) {
            to[place] = from[place] == '\n' ? ' ' : from[place]; /* between two blocks */
        }
        to += length;
        *to++ = '\n';
    }
    PyObject *texts = PyBytes_FromStringAndSize(joined, to > joined ? to - joined - 1 : 0);
    free(joined);
    return texts;
}
