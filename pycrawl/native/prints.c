/* What follows from the hashes of a text's words: sketch, simhash, passages, and pairs of words. The same, bit by bit, as
   fingerprint/sketch.py, simhash.py, passages.py and pairs.py make with numpy; those say what everything means. */

#include "native.h"

#define SIMHASH_BITS 64
#define COUNTER_MOST 255 /* what a counter of one byte holds */
#define MOST_SKETCH 1024
#define MOST_SELECTED (1 << 20)

/* Those of fingerprint/mixing.py and shingle.py. */
static const uint64_t FIRST = 0xBF58476D1CE4E5B9u, LAST = 0x94D049BB133111EBu;
static const uint64_t STEP = 0xD6E8FEB86659FD93u;

static int compare(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

#define FEW 512
#define BUCKETS 512

/* Numbers without pattern: by their highest bits into buckets of about one each, then in order. Of few, so that numbers
   which all fall into one bucket do no harm. */
static void sort_few(uint64_t *numbers, size_t count) {
    uint64_t sorted[FEW], most = 0;
    uint16_t begins[BUCKETS + 1] = {0};
    for (size_t place = 0; place < count; place++) {
        most |= numbers[place];
    }
    unsigned shift = most >= BUCKETS ? 64 - (unsigned)__builtin_clzll(most) - 9 : 0;
    for (size_t place = 0; place < count; place++) {
        begins[(numbers[place] >> shift) + 1]++;
    }
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        begins[bucket + 1] = (uint16_t)(begins[bucket + 1] + begins[bucket]);
    }
    for (size_t place = 0; place < count; place++) {
        sorted[begins[numbers[place] >> shift]++] = numbers[place];
    }
    for (size_t place = 0; place < count; place++) {
        size_t to = place;
        for (; to > 0 && numbers[to - 1] > sorted[place]; to--) {
            numbers[to] = numbers[to - 1];
        }
        numbers[to] = sorted[place];
    }
}

/* In ascending order, each once; how many are left. */
static size_t sort_distinct(uint64_t *numbers, size_t count) {
    if (count <= FEW) {
        sort_few(numbers, count);
    } else {
        qsort(numbers, count, sizeof *numbers, compare);
    }
    size_t distinct = 0;
    for (size_t place = 0; place < count; place++) {
        if (distinct == 0 || numbers[place] != numbers[distinct - 1]) {
            numbers[distinct++] = numbers[place];
        }
    }
    return distinct;
}

/* Brings the `most` smallest distinct numbers to the front, in ascending order; how many there are. Numbers without
   pattern are sorted only below a limit that is set by how many there are. */
static size_t smallest_distinct(uint64_t *numbers, size_t count, size_t most) {
    if (count > 2 * most) {
        uint64_t limit = UINT64_MAX / count * (most + most / 2);
        size_t below = 0;
        for (size_t place = 0; place < count; place++) {
            uint64_t number = numbers[place];
            numbers[place] = numbers[below];
            numbers[below] = number;
            below += number <= limit;
        }
        size_t distinct = sort_distinct(numbers, below);
        if (distinct >= most) {
            return most;
        }
        /* Many repeat themselves, or are too large: what was taken together in front is not needed twice. */
        memmove(numbers + distinct, numbers + below, (count - below) * sizeof *numbers);
        count -= below - distinct;
    }
    size_t distinct = sort_distinct(numbers, count);
    return distinct < most ? distinct : most;
}

typedef struct {
    uint64_t smallest[MOST_SKETCH];
    uint16_t values[MOST_SKETCH];
    size_t size;
} Sketch;

static uint64_t spread_out(uint64_t number) {
    uint64_t mixed = (number + 1) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * FIRST;
    mixed = (mixed ^ (mixed >> 27)) * LAST;
    return mixed ^ (mixed >> 31);
}

/* An empty place borrows the value of another: of those that are filled, the one that comes first in an order of search
   that each place has for itself. */
static void densify(Sketch *sketch) {
    size_t size = sketch->size;
    for (size_t empty = 0; empty < size; empty++) {
        if (sketch->smallest[empty] != UINT64_MAX) {
            continue;
        }
        size_t lender = size;
        uint64_t first = UINT64_MAX;
        for (size_t place = 0; place < size; place++) {
            uint64_t order = sketch->smallest[place] != UINT64_MAX ? spread_out(empty * size + place) : UINT64_MAX;
            if (order < first) {
                lender = place;
                first = order;
            }
        }
        sketch->values[empty] = (uint16_t)(0x8000 | (lender < size ? sketch->values[lender] : 0x7FFF));
    }
}

/* A value in a byte. A borrowed one is mixed with its place, so that all places together tell short texts apart. */
static uint8_t folded(uint16_t value, size_t place) {
    if (!(value & 0x8000)) {
        return value & 0x7F;
    }
    uint32_t factor = (uint32_t)(spread_out(place) >> 32) | 1;
    return (uint8_t)(0x80 | ((((uint32_t)(value & 0x7FFF) + 1) * factor >> 16) & 0x7F));
}

/* A byte's bits as bytes, the lowest first. */
static uint64_t spread_bits[256];

/* Adds the bits of `word`, each of them `weight` times. */
static void add_bits(size_t *ones, uint64_t word, size_t weight) {
    for (unsigned bit = 0; bit < SIMHASH_BITS; bit++) {
        ones[bit] += (word >> bit & 1) * weight;
    }
}

/* Of three bits at each place: the sum's lower bit into `low`, the carry into the result. */
static inline uint64_t carry(uint64_t *low, uint64_t one, uint64_t other) {
    uint64_t either = *low ^ one, carried = (*low & one) | (either & other);
    *low = either ^ other;
    return carried;
}

/* In how many words each bit is set. Eight words are first added as 64 sums of four bits side by side, of which the
   highest bits alone are counted one by one. */
static void count_bits(const uint64_t *hashes, size_t count, size_t *ones) {
    uint64_t single = 0, twos = 0, fours = 0;
    size_t place = 0;
    while (count - place >= 8) {
        uint64_t sums[8] = {0};
        for (unsigned round = 0; round < COUNTER_MOST && count - place >= 8; round++, place += 8) {
            const uint64_t *eight = hashes + place;
            uint64_t two_a = carry(&single, eight[0], eight[1]), two_b = carry(&single, eight[2], eight[3]);
            uint64_t four_a = carry(&twos, two_a, two_b);
            two_a = carry(&single, eight[4], eight[5]);
            two_b = carry(&single, eight[6], eight[7]);
            uint64_t four_b = carry(&twos, two_a, two_b);
            uint64_t eights = carry(&fours, four_a, four_b);
            for (unsigned part = 0; part < 8; part++) {
                sums[part] += spread_bits[eights >> 8 * part & 0xFF];
            }
        }
        for (unsigned bit = 0; bit < SIMHASH_BITS; bit++) {
            ones[bit] += 8 * (sums[bit / 8] >> 8 * (bit % 8) & 0xFF);
        }
    }
    add_bits(ones, single, 1);
    add_bits(ones, twos, 2);
    add_bits(ones, fours, 4);
    for (; place < count; place++) {
        add_bits(ones, hashes[place], 1);
    }
}

static uint64_t simhash(const uint64_t *hashes, size_t count) {
    if (spread_bits[1] == 0) {
        for (unsigned code = 0; code < 256; code++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                spread_bits[code] |= (uint64_t)(code >> bit & 1) << 8 * bit;
            }
        }
    }
    size_t ones[SIMHASH_BITS] = {0};
    count_bits(hashes, count, ones);
    uint64_t votes = 0;
    for (unsigned bit = 0; bit < SIMHASH_BITS; bit++) {
        votes |= (uint64_t)(2 * ones[bit] > count) << bit;
    }
    return votes;
}

/* Windows of four words into the sketch, and those that are 0 mod `one_in` into `selected`; how many of them. */
static size_t take_windows(const uint64_t *hashes, size_t count, Sketch *sketch, uint64_t mask, uint64_t *selected) {
    const uint64_t steps = STEP * STEP;
    size_t width = count < 4 ? count : 4, found = 0;
    for (size_t begin = 0; width && begin + width <= count; begin++) {
        uint64_t window = hashes[begin];
        if (width == 4) { /* two pairs, which wait for each other less */
            window = (window * STEP + hashes[begin + 1]) * steps + hashes[begin + 2] * STEP + hashes[begin + 3];
        } else {
            for (size_t place = 1; place < width; place++) {
                window = window * STEP + hashes[begin + place];
            }
        }
        uint64_t *kept = &sketch->smallest[(window >> 32) * sketch->size >> 32];
        *kept = window < *kept ? window : *kept;
        if ((window & mask) == 0) {
            selected[found++] = window;
        }
    }
    return found;
}

static PyObject *prints_of(const Py_buffer *words, size_t size, uint64_t mask, size_t most) {
    size_t count = (size_t)words->len / 8;
    uint64_t *selected = malloc((count + 1) * sizeof *selected);
    if (selected == NULL) {
        return PyErr_NoMemory();
    }
    Sketch sketch = {.size = size};
    memset(sketch.smallest, 0xFF, size * sizeof *sketch.smallest);
    size_t found = take_windows(words->buf, count, &sketch, mask, selected);
    found = smallest_distinct(selected, found, most);
    bool any_empty = false;
    for (size_t place = 0; place < size; place++) {
        sketch.values[place] = (uint16_t)(sketch.smallest[place] & 0x7FFF);
        any_empty |= sketch.smallest[place] == UINT64_MAX;
    }
    if (any_empty) {
        densify(&sketch);
    }
    uint8_t stored[MOST_SKETCH];
    for (size_t place = 0; place < size; place++) {
        stored[place] = folded(sketch.values[place], place);
    }
    PyObject *prints = Py_BuildValue(
        "y#Ky#", stored, (Py_ssize_t)size,
        (unsigned long long)simhash(words->buf, count), selected, (Py_ssize_t)(found * sizeof *selected));
    free(selected);
    return prints;
}

PyObject *native_prints(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer words;
    Py_ssize_t size;
    Py_ssize_t most;
    unsigned long long one_in;
    if (!PyArg_ParseTuple(args, "y*nKn", &words, &size, &one_in, &most)) {
        return NULL;
    }
    PyObject *prints = NULL;
    if (size < 1 || size > MOST_SKETCH) {
        PyErr_Format(PyExc_ValueError, "expected a sketch of 1 to %d places, found %zd", MOST_SKETCH, size);
    } else if (one_in == 0 || (one_in & (one_in - 1)) != 0 || most < 1 || most > MOST_SELECTED) {
        PyErr_SetString(PyExc_ValueError, "expected to select one in a power of two, and at least one");
    } else {
        prints = prints_of(&words, (size_t)size, one_in - 1, (size_t)most);
    }
    PyBuffer_Release(&words);
    return prints;
}

/* Pairs of words, by which traps are told */

static PyObject *smallest_pairs(const uint64_t *hashes, size_t count, size_t most) {
    uint64_t *pairs = malloc((count + 1) * sizeof *pairs);
    if (pairs == NULL) {
        return PyErr_NoMemory();
    }
    size_t total = count > 1 ? count - 1 : count;
    for (size_t place = 0; place < total; place++) {
        pairs[place] = count > 1 ? hashes[place] * STEP + hashes[place + 1] : hashes[place];
    }
    size_t distinct = smallest_distinct(pairs, total, most);
    PyObject *result = PyBytes_FromStringAndSize((const char *)pairs, (Py_ssize_t)(distinct * sizeof *pairs));
    free(pairs);
    return result;
}

PyObject *native_pairs(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer words, numerals, dropped;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(args, "y*y*y*n", &words, &numerals, &dropped, &most)) {
        return NULL;
    }
    PyObject *pairs = NULL;
    size_t count = (size_t)numerals.len, slots = (size_t)dropped.len;
    uint64_t *kept = malloc((count + 1) * sizeof *kept);
    if (kept == NULL) {
        PyErr_NoMemory();
    } else if ((size_t)words.len != count * sizeof *kept || slots == 0 || most < 1 || most > 1 << 20) {
        PyErr_SetString(PyExc_ValueError, "expected a flag for each word, a table, and a number of pairs");
    } else {
        const uint64_t *hashes = words.buf;
        const byte *is_numeral = numerals.buf, *is_dropped = dropped.buf;
        size_t left = 0;
        for (size_t place = 0; place < count; place++) {
            kept[left] = hashes[place];
            left += !is_numeral[place] && !is_dropped[hashes[place] % slots];
        }
        pairs = smallest_pairs(kept, left, (size_t)most);
    }
    free(kept);
    PyBuffer_Release(&dropped);
    PyBuffer_Release(&numerals);
    PyBuffer_Release(&words);
    return pairs;
}
