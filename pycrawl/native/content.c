/* Which blocks of a page are its main content: the rules of parse/content.py and parse/frames.py, which say why. */

#include "scan.h"

#define MOST_WORDS 1024 /* names that tell of a frame; a power of two, twice as many as there are */
#define LONGEST_WORD 23 /* bytes */
#define MOST_STARTS 32

Rules rules;

/* What `worth_of` and `is_kept` ask of an element, by its tag. */
enum { HEADING = 1, ITEM = 2, PROSE = 4, CONTENT = 8 };
static uint8_t roles[TAG_COUNT];
static uint8_t suspicions[TAG_COUNT]; /* of the tag itself, whatever the names of the box say */

typedef struct {
    char letters[LONGEST_WORD + 1];
    byte length;
    byte suspicion;
} Word;

static Word words[MOST_WORDS];
static Word starts[MOST_STARTS];
static size_t starts_count;

static Word *word_place(const char *letters, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t place = 0; place < length; place++) {
        hash = (hash ^ (byte)letters[place]) * 16777619u;
    }
    size_t slot = hash % MOST_WORDS;
    while (words[slot].length && (words[slot].length != length || memcmp(words[slot].letters, letters, length) != 0)) {
        slot = (slot + 1) % MOST_WORDS;
    }
    return &words[slot];
}

/* Takes words from a sequence, each into the place that `place_of` has for it. */
static int take_words(PyObject *sequence, byte suspicion, bool are_starts, size_t *taken) {
    Py_ssize_t count = PySequence_Size(sequence);
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *item = PySequence_GetItem(sequence, place);
        Py_ssize_t length = 0;
        const char *letters = item != NULL ? PyUnicode_AsUTF8AndSize(item, &length) : NULL;
        if (letters == NULL || length > LONGEST_WORD || ++*taken > (are_starts ? MOST_STARTS : MOST_WORDS / 2)) {
            Py_XDECREF(item);
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "expected fewer or shorter words");
            }
            return -1;
        }
        Word *word = are_starts ? &starts[starts_count++] : word_place(letters, (size_t)length);
        memcpy(word->letters, letters, (size_t)length);
        word->length = (byte)length;
        word->suspicion = suspicion;
        Py_DECREF(item);
    }
    return count < 0 ? -1 : 0;
}

/* Adds a role to the tags that a sequence names. */
static int take_role(PyObject *names, uint8_t *table, uint8_t role) {
    Py_ssize_t count = PySequence_Size(names);
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *item = PySequence_GetItem(names, place);
        Py_ssize_t length = 0;
        const char *name = item != NULL ? PyUnicode_AsUTF8AndSize(item, &length) : NULL;
        if (name != NULL) {
            uint8_t tag = tag_of((const byte *)name, (size_t)length, name_hash((const byte *)name, (size_t)length));
            table[tag] |= role;
        }
        Py_XDECREF(item);
        if (name == NULL) {
            return -1;
        }
    }
    return count < 0 ? -1 : 0;
}

PyObject *native_set_content_rules(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *inline_tags, *void_tags, *unseen, *headings, *items, *prose, *content, *maybe_tags, *sure_tags;
    PyObject *maybe, *sure, *sure_starts;
    if (!PyArg_ParseTuple(args, "(ddd)ddddddnnnnn(OOO)(OOOO)(OO)(OOO)", &rules.shares[0], &rules.shares[1], &rules.shares[2],
                          &rules.many_links, &rules.some_links, &rules.short_prose, &rules.litter, &rules.link_list,
                          &rules.floor, &rules.short_words, &rules.fewest_words, &rules.longest_name, &rules.long_word,
                          &rules.characters_of_word, &inline_tags, &void_tags, &unseen, &headings, &items, &prose, &content,
                          &maybe_tags, &sure_tags, &maybe, &sure, &sure_starts)) {
        return NULL;
    }
    memset(words, 0, sizeof words);
    memset(roles, 0, sizeof roles);
    memset(suspicions, 0, sizeof suspicions);
    starts_count = 0;
    size_t taken = 0, starts_taken = 0;
    if (add_tags(inline_tags, TAG_INLINE) < 0 || add_tags(void_tags, TAG_VOID) < 0 || add_tags(unseen, TAG_UNSEEN) < 0 ||
        take_role(headings, roles, HEADING) < 0 || take_role(items, roles, ITEM) < 0 || take_role(prose, roles, PROSE) < 0 ||
        take_role(content, roles, CONTENT) < 0 || take_role(maybe_tags, suspicions, 1) < 0 ||
        take_role(sure_tags, suspicions, 2) < 0 || take_words(maybe, 1, false, &taken) < 0 ||
        take_words(sure, 2, false, &taken) < 0 || take_words(sure_starts, 2, true, &starts_taken) < 0) {
        return NULL;
    }
    mark_leaving_tags();
    Py_RETURN_NONE;
}

static inline bool is_capital(char letter) {
    return letter >= 'A' && letter <= 'Z';
}

static inline bool is_small(char letter) {
    return letter >= 'a' && letter <= 'z';
}

static int suspicion_of_word(const char *letters, size_t length) {
    char small[LONGEST_WORD];
    size_t shown = length < LONGEST_WORD ? length : LONGEST_WORD;
    for (size_t place = 0; place < shown; place++) {
        small[place] = (char)(letters[place] | 0x20);
    }
    int most = length <= LONGEST_WORD ? word_place(small, length)->suspicion : 0;
    for (size_t place = 0; most < 2 && place < starts_count; place++) {
        if (starts[place].length <= shown && memcmp(starts[place].letters, small, starts[place].length) == 0) {
            most = 2;
        }
    }
    return most;
}

/* Words are runs of small letters with at most one capital in front, or runs of capitals. */
static int suspicion_of_name(const char *name, size_t length) {
    int most = 0;
    size_t at = 0;
    length = length < (size_t)rules.longest_name ? length : (size_t)rules.longest_name;
    while (at < length && most < 2) {
        size_t begin = at;
        if (is_capital(name[at]) && !(at + 1 < length && is_small(name[at + 1]))) {
            while (at < length && is_capital(name[at])) {
                at++;
            }
        } else if (is_capital(name[at]) || is_small(name[at])) {
            at++;
            while (at < length && is_small(name[at])) {
                at++;
            }
        } else {
            at++;
            continue;
        }
        int found = suspicion_of_word(name + begin, at - begin);
        most = found > most ? found : most;
    }
    return most;
}

int suspicion_of(uint8_t tag, const char *class_name, size_t class_length, const char *id, size_t id_length) {
    if (roles[tag] & CONTENT) {
        return 0;
    }
    int most = suspicions[tag];
    if (most == 2) {
        return most;
    }
    int by_class = suspicion_of_name(class_name, class_length);
    most = by_class > most ? by_class : most;
    if (most < 2) {
        int by_id = suspicion_of_name(id, id_length);
        most = by_id > most ? by_id : most;
    }
    return most;
}

/* Blocks */

static inline double link_share(const Block *block) {
    return (double)block->link_letters / (double)block->letters;
}

static double worth_of(uint8_t tag, size_t count, double share) {
    if (share > 0) {
        if (share > rules.many_links) {
            return -rules.link_list - (double)count;
        }
        if (share > rules.some_links && (roles[tag] & ITEM)) {
            return rules.litter;
        }
        count -= (size_t)((double)count * share);
    }
    if (roles[tag] & HEADING) {
        return 0.0;
    }
    if (count >= (size_t)rules.short_words) {
        return (double)count;
    }
    return (roles[tag] & PROSE) && share == 0 ? rules.short_prose * (double)count : rules.litter;
}

/* Adds to each box what the boxes inside have, but nothing below the floor. */
static void add_up(Box *boxes, size_t count, double floor) {
    for (size_t box = count; box-- > 1;) {
        double worth = boxes[box].worth;
        if (worth != 0) {
            boxes[boxes[box].parent].worth += worth > floor ? worth : floor;
        }
    }
}

static void clear(Box *boxes, size_t count) {
    for (size_t box = 0; box < count; box++) {
        boxes[box].worth = 0;
    }
}

static void find_frames(Box *boxes, size_t box_count, const Block *blocks, size_t block_count, const double *worths) {
    clear(boxes, box_count);
    for (size_t place = 0; place < block_count; place++) {
        if (worths[place] > 0) {
            boxes[blocks[place].box].worth += worths[place];
        }
    }
    add_up(boxes, box_count, 0.0);
    boxes[0].framed = false;
    for (size_t box = 1; box < box_count; box++) {
        boxes[box].framed = boxes[boxes[box].parent].framed || boxes[box].worth < rules.shares[boxes[box].suspicion] * boxes[0].worth;
    }
}

/* The box worth most; of several, the innermost. */
static size_t best_box(Box *boxes, size_t box_count, const Block *blocks, size_t block_count, const double *worths) {
    clear(boxes, box_count);
    for (size_t place = 0; place < block_count; place++) {
        if (!boxes[blocks[place].box].framed) {
            boxes[blocks[place].box].worth += worths[place];
        }
    }
    add_up(boxes, box_count, rules.floor);
    size_t best = box_count - 1;
    for (size_t box = box_count; box-- > 0;) {
        if (boxes[box].worth > boxes[best].worth) {
            best = box;
        }
    }
    return best;
}

/* Whether a block that is worth nothing by itself belongs to the content by what is around it; `good` is about those of
   the best box, of which there are `count`. */
static bool is_kept(uint8_t tag, bool is_links, const bool *good, size_t count, size_t place) {
    if (tag == TAG_H1) {
        return false;
    }
    bool follows = (place + 1 < count && good[place + 1]) || (place + 2 < count && good[place + 2]);
    if (roles[tag] & HEADING) {
        return follows;
    }
    if (is_links) {
        return false;
    }
    return tag == TAG_P || (follows && ((place >= 1 && good[place - 1]) || (place >= 2 && good[place - 2])));
}

size_t choose_content(Box *boxes, size_t box_count, const Block *blocks, size_t block_count, bool *kept, double *worths) {
    for (size_t place = 0; place < block_count; place++) {
        const Block *block = &blocks[place];
        worths[place] = worth_of(boxes[block->box].tag, block->words, link_share(block));
    }
    find_frames(boxes, box_count, blocks, block_count, worths);
    size_t best = best_box(boxes, box_count, blocks, block_count, worths);
    size_t end = best + 1;
    while (end < box_count && boxes[end].parent >= best) {
        end++;
    }
    /* Of the blocks inside, `kept` first holds, closely packed, which are good; there are never more of them. */
    bool *good = malloc(block_count + 1);
    if (good == NULL) {
        return 0;
    }
    size_t inside = 0;
    for (size_t place = 0; place < block_count; place++) {
        uint32_t box = blocks[place].box;
        if (box >= best && box < end && !boxes[box].framed) {
            good[inside++] = worths[place] > 0;
        }
    }
    size_t rank = 0, found = 0, words_found = 0;
    for (size_t place = 0; place < block_count; place++) {
        uint32_t box = blocks[place].box;
        kept[place] = false;
        if (box < best || box >= end || boxes[box].framed) {
            continue;
        }
        bool is_links = link_share(&blocks[place]) > rules.many_links;
        kept[place] = good[rank] || is_kept(boxes[box].tag, is_links, good, inside, rank);
        if (kept[place]) {
            found++;
            words_found += blocks[place].words;
        }
        rank++;
    }
    free(good);
    return words_found >= (size_t)rules.fewest_words ? found : 0;
}
