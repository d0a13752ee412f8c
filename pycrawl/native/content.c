/* Which blocks of a page are its main content: the rules of parse/content.py and parse/frames.py, which say why. */

#include "scan.h"

Rules rules;

/* What `worth_of` and `is_kept` ask of an element, by its tag. */
enum { HEADING = 1, ITEM = 2, PROSE = 4 };
static uint8_t roles[TAG_COUNT];

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
    PyObject *inline_tags, *void_tags, *unseen, *headings, *items, *prose;
    double *first = rules.shares, *again = rules.shares_again;
    if (!PyArg_ParseTuple(args, "(ddddd)(ddddd)(ddddd)ddddddnnnn(OOO)(OOO)", &first[0], &first[1], &first[2], &first[3], &first[4],
                          &again[0], &again[1], &again[2], &again[3], &again[4], &rules.little, &rules.small_part,
                          &rules.few_words, &rules.fair_part, &rules.prose_words, &rules.many_links, &rules.some_links, &rules.short_prose, &rules.litter,
                          &rules.link_list, &rules.floor, &rules.short_words, &rules.fewest_words, &rules.long_word,
                          &rules.characters_of_word, &inline_tags, &void_tags, &unseen, &headings, &items, &prose)) {
        return NULL;
    }
    memset(roles, 0, sizeof roles);
    if (add_tags(inline_tags, TAG_INLINE) < 0 || add_tags(void_tags, TAG_VOID) < 0 || add_tags(unseen, TAG_UNSEEN) < 0 ||
        take_role(headings, roles, HEADING) < 0 || take_role(items, roles, ITEM) < 0 || take_role(prose, roles, PROSE) < 0) {
        return NULL;
    }
    mark_leaving_tags();
    Py_RETURN_NONE;
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

/* A page's boxes and blocks, what the blocks are worth, and for each block whether it is kept. */
typedef struct {
    Box *boxes;
    size_t box_count;
    const Block *blocks;
    size_t block_count;
    double *worths;
    bool *kept, *good;
    size_t words_kept;
    double worth_kept; /* of good blocks */
} Choice;

/* Sums up what is in each box, and what the whole page has, which is in box 0. */
static void weigh(Choice *page) {
    Box *boxes = page->boxes;
    for (size_t box = 0; box < page->box_count; box++) {
        boxes[box].sum = 0;
        boxes[box].words = 0;
        boxes[box].has_prose = false;
    }
    for (size_t place = 0; place < page->block_count; place++) {
        const Block *block = &page->blocks[place];
        double worth = worth_of(boxes[block->box].tag, block->words, link_share(block));
        page->worths[place] = worth;
        boxes[block->box].words += (double)block->words;
        if (worth > 0) {
            boxes[block->box].sum += worth;
            boxes[block->box].has_prose |= worth >= rules.prose_words;
        }
    }
    for (size_t box = page->box_count; box-- > 1;) {
        Box *outer = &boxes[boxes[box].parent];
        outer->sum += boxes[box].sum;
        outer->words += boxes[box].words;
        outer->has_prose |= boxes[box].has_prose;
    }
}

static bool is_frame(const Box *box, const Box *whole, const double *shares) {
    double share = shares[box->suspicion];
    bool is_small = box->sum < share * whole->sum;
    switch (box->suspicion) {
    case LEVEL_WEAK:
        return is_small && !box->has_prose;
    case LEVEL_HARD:
        return is_small || box->words < share * whole->words;
    default:
        return is_small;
    }
}

static void find_frames(Choice *page, const double *shares) {
    Box *boxes = page->boxes;
    boxes[0].framed = false;
    for (size_t box = 1; box < page->box_count; box++) {
        boxes[box].framed = boxes[boxes[box].parent].framed || is_frame(&boxes[box], &boxes[0], shares);
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

static void keep(Choice *page, size_t place, bool is_content) {
    page->kept[place] = is_content;
    if (is_content) {
        page->words_kept += page->blocks[place].words;
    }
}

/* Marks the content if names of frames count up to these shares of the page. */
static void choose(Choice *page, const double *shares) {
    Box *boxes = page->boxes;
    find_frames(page, shares);
    size_t best = best_box(boxes, page->box_count, page->blocks, page->block_count, page->worths);
    size_t end = best + 1;
    while (end < page->box_count && boxes[end].parent >= best) {
        end++;
    }
    page->words_kept = 0;
    page->worth_kept = 0;
    /* Of the blocks inside, closely packed, which are good. */
    size_t inside = 0;
    for (size_t place = 0; place < page->block_count; place++) {
        uint32_t box = page->blocks[place].box;
        if (box >= best && box < end && !boxes[box].framed) {
            page->good[inside++] = page->worths[place] > 0;
            page->worth_kept += page->worths[place] > 0 ? page->worths[place] : 0;
        }
    }
    size_t rank = 0;
    for (size_t place = 0; place < page->block_count; place++) {
        uint32_t box = page->blocks[place].box;
        page->kept[place] = false;
        if (box >= best && box < end && !boxes[box].framed) {
            bool is_links = link_share(&page->blocks[place]) > rules.many_links;
            keep(page, place, page->good[rank] || is_kept(boxes[box].tag, is_links, page->good, inside, rank));
            rank++;
        }
    }
}

/* Marks all blocks but those in boxes whose names surely tell of a frame. */
static void choose_unframed(Choice *page) {
    Box *boxes = page->boxes;
    page->words_kept = 0;
    for (size_t box = 1; box < page->box_count; box++) {
        boxes[box].framed = boxes[boxes[box].parent].framed || boxes[box].suspicion >= LEVEL_SURE;
    }
    for (size_t place = 0; place < page->block_count; place++) {
        keep(page, place, !boxes[page->blocks[place].box].framed);
    }
}

static bool is_enough(const Choice *page) {
    double words = (double)page->words_kept;
    return page->words_kept >= (size_t)rules.fewest_words && words >= rules.small_part * page->boxes[0].words;
}

/* True if what is kept is a short note on a page that has much else. */
static bool is_note(const Choice *page) {
    double words = (double)page->words_kept;
    return words < rules.few_words && words < rules.fair_part * page->boxes[0].words;
}

bool choose_content(Box *boxes, size_t box_count, const Block *blocks, size_t block_count, bool *kept, double *worths) {
    bool *good = malloc(block_count + 1);
    if (good == NULL) {
        return false;
    }
    Choice page = {
        .boxes = boxes, .box_count = box_count, .blocks = blocks, .block_count = block_count, .worths = worths, .kept = kept,
        .good = good};
    weigh(&page);
    const double *shares = rules.shares;
    choose(&page, shares);
    if (!is_enough(&page) || page.worth_kept < rules.little * boxes[0].sum) {
        shares = rules.shares_again;
        choose(&page, shares);
    }
    if (!is_enough(&page) || is_note(&page)) {
        choose_unframed(&page);
        if (!is_enough(&page)) {
            choose(&page, shares);
        }
    }
    free(good);
    return page.words_kept >= (size_t)rules.fewest_words;
}
