/* Blocks of sorted runs: keys with ids, packed, unpacked and searched. `state/runs/entries.py` and `packing.py` do the
   same with numpy, and say what the bytes mean. */

#include "native.h"

enum { BYTE_BITS = 8, WORD_BITS = 64, HEADER_BYTES = 12, ROW_HEADER_BYTES = 8, PACKED = 0x80, FIRST_ROOM = 64 };

/* Numbers of `width` bits: their whole bytes, and then the bits that are left of each, side by side. */

static size_t packed_size(size_t count, unsigned width) {
    return count * (width / BYTE_BITS) + (count * (width % BYTE_BITS) + BYTE_BITS - 1) / BYTE_BITS;
}

static uint64_t whole_bytes(const byte *from, unsigned count) {
    uint64_t number = 0;
    for (unsigned place = 0; place < count; place++) {
        number |= (uint64_t)from[place] << (BYTE_BITS * place);
    }
    return number;
}

/* The number at a place of packed ones; all of them must lie in the block. */
static inline uint64_t packed_number(const byte *packed, size_t count, unsigned width, size_t place) {
    unsigned whole = width / BYTE_BITS, rest = width % BYTE_BITS;
    uint64_t number = whole_bytes(packed + place * whole, whole);
    if (rest) {
        size_t bit = place * rest;
        const byte *at = packed + count * whole + bit / BYTE_BITS;
        unsigned shift = bit % BYTE_BITS, two = at[0];
        if (shift + rest > BYTE_BITS) {
            two |= (unsigned)at[1] << BYTE_BITS;
        }
        number |= (uint64_t)(two >> shift & ((1u << rest) - 1)) << (BYTE_BITS * whole);
    }
    return number;
}

/* The bytes must be 0 before. */
static inline void pack_number(byte *packed, size_t count, unsigned width, size_t place, uint64_t number) {
    unsigned whole = width / BYTE_BITS, rest = width % BYTE_BITS;
    for (unsigned at = 0; at < whole; at++) {
        packed[place * whole + at] = (byte)(number >> (BYTE_BITS * at));
    }
    if (rest) {
        size_t bit = place * rest;
        byte *at = packed + count * whole + bit / BYTE_BITS;
        unsigned shift = bit % BYTE_BITS, two = ((unsigned)(number >> (BYTE_BITS * whole)) & ((1u << rest) - 1)) << shift;
        at[0] |= (byte)two;
        if (shift + rest > BYTE_BITS) {
            at[1] |= (byte)(two >> BYTE_BITS);
        }
    }
}

static unsigned bits_of(uint64_t most) {
    unsigned bits = 0;
    while (most) {
        bits++;
        most >>= 1;
    }
    return bits;
}

/* Where the parts of a block lie. */
typedef struct {
    const byte *row, *lows, *ids;
    uint64_t first;
    size_t count, row_bytes;
    uint32_t least;
    unsigned low, id_bits;
} IdBlock;

/* False if the bytes are no packed block. */
static bool is_block(const byte *from, size_t size, IdBlock *block) {
    size_t head = HEADER_BYTES + ROW_HEADER_BYTES;
    if (size < head || from[2] < PACKED) {
        return false;
    }
    *block = (IdBlock){
        .first = whole_bytes(from + 4, 8), .count = (size_t)whole_bytes(from, 2),
        .row_bytes = (size_t)whole_bytes(from + HEADER_BYTES + 4, 4),
        .least = (uint32_t)whole_bytes(from + HEADER_BYTES, 4), .low = (unsigned)from[2] - PACKED, .id_bits = from[3],
    };
    if (block->low > WORD_BITS || block->id_bits > WORD_BITS || block->row_bytes > size - head) {
        return false;
    }
    block->row = from + head;
    block->lows = block->row + block->row_bytes;
    block->ids = block->lows + packed_size(block->count, block->low);
    return size == head + block->row_bytes + packed_size(block->count, block->low) + packed_size(block->count, block->id_bits);
}

/* Sets keys and ids of a block; false if it is damaged. */
static bool unpack(const IdBlock *block, uint64_t *keys, uint32_t *ids) {
    size_t found = 0, count = block->count;
    for (size_t at = 0; at < block->row_bytes; at++) {
        for (unsigned bits = block->row[at]; bits; bits &= bits - 1) {
            if (found == count) {
                return false;
            }
            uint64_t high = at * BYTE_BITS + (unsigned)__builtin_ctz(bits) - found;
            uint64_t low = packed_number(block->lows, count, block->low, found);
            keys[found] = block->first + ((block->low < WORD_BITS ? high << block->low : 0) | low);
            ids[found] = block->least + (uint32_t)packed_number(block->ids, count, block->id_bits, found);
            found++;
        }
    }
    return found == count;
}

PyObject *native_unpack_ids(PyObject *self, PyObject *data) {
    (void)self;
    Py_buffer block;
    if (PyObject_GetBuffer(data, &block, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    PyObject *keys = NULL, *ids = NULL, *found = NULL;
    IdBlock parts;
    if (!is_block(block.buf, (size_t)block.len, &parts)) {
        PyErr_SetString(PyExc_ValueError, "no packed block");
        goto end;
    }
    keys = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(parts.count * sizeof(uint64_t)));
    ids = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(parts.count * sizeof(uint32_t)));
    if (keys == NULL || ids == NULL) {
        goto end;
    }
    if (unpack(&parts, (uint64_t *)PyBytes_AsString(keys), (uint32_t *)PyBytes_AsString(ids))) {
        found = PyTuple_Pack(2, keys, ids);
    } else {
        PyErr_SetString(PyExc_ValueError, "a damaged block");
    }
end:
    Py_XDECREF(keys);
    Py_XDECREF(ids);
    PyBuffer_Release(&block);
    return found;
}

/* Look-ups in a packed block, which is not unpacked for it. */

typedef struct {
    int64_t *places;
    uint32_t *ids;
    size_t count, room;
} Matches;

static bool add_match(Matches *matches, int64_t place, uint32_t id) {
    if (matches->count == matches->room) {
        size_t room = matches->room ? 2 * matches->room : FIRST_ROOM;
        int64_t *places = realloc(matches->places, room * sizeof *places);
        if (places != NULL) {
            matches->places = places;
        }
        uint32_t *ids = realloc(matches->ids, room * sizeof *ids);
        if (ids != NULL) {
            matches->ids = ids;
        }
        if (places == NULL || ids == NULL) {
            return false;
        }
        matches->room = room;
    }
    matches->places[matches->count] = place;
    matches->ids[matches->count++] = id;
    return true;
}

/* A byte of the row, and how many zeros come before it. */
typedef struct {
    size_t at;
    uint64_t zeros;
} Cursor;

/* Moves on to the byte with the zero of this number, from 1 on; false if there is none. */
static bool move_to_zero(const IdBlock *block, Cursor *cursor, uint64_t number) {
    while (cursor->at < block->row_bytes) {
        uint64_t word = 0;
        size_t step = block->row_bytes - cursor->at < sizeof word ? 1 : sizeof word;
        memcpy(&word, block->row + cursor->at, step);
        uint64_t zeros = step * BYTE_BITS - (uint64_t)__builtin_popcountll(word);
        if (cursor->zeros + zeros >= number) {
            if (step == 1) {
                return true;
            }
            zeros = BYTE_BITS - (uint64_t)__builtin_popcount(block->row[cursor->at]);
            if (cursor->zeros + zeros >= number) {
                return true;
            }
            step = 1;
        }
        cursor->zeros += zeros;
        cursor->at += step;
    }
    return false;
}

/* The bit behind the zero of this number, which lies in the byte. */
static size_t behind_zero(const IdBlock *block, const Cursor *cursor, uint64_t number) {
    unsigned zeros = ~(unsigned)block->row[cursor->at] & 0xFF;
    for (uint64_t before = cursor->zeros + 1; before < number; before++) {
        zeros &= zeros - 1;
    }
    return cursor->at * BYTE_BITS + (unsigned)__builtin_ctz(zeros) + 1;
}

typedef struct {
    uint64_t key;
    long long id;
} Floor;

/* Adds the live entries of a key, at most so many; false if the block is damaged or there is no memory. */
static bool find_key(const IdBlock *block, Cursor *cursor, uint64_t key, Floor floor, int64_t place, Py_ssize_t most, Matches *found) {
    if (key < block->first || block->low >= WORD_BITS) {
        return key < block->first;
    }
    uint64_t rest = key - block->first, high = rest >> block->low, low = rest & ((UINT64_C(1) << block->low) - 1);
    size_t bit = 0;
    if (high) {
        if (!move_to_zero(block, cursor, high)) {
            return true;
        }
        bit = behind_zero(block, cursor, high);
    }
    for (; bit < block->row_bytes * BYTE_BITS && (block->row[bit / BYTE_BITS] >> bit % BYTE_BITS & 1) && most; bit++) {
        size_t entry = bit - (size_t)high;
        if (entry >= block->count) {
            return false;
        }
        uint64_t here = packed_number(block->lows, block->count, block->low, entry);
        if (here > low) {
            break;
        }
        uint32_t id = block->least + (uint32_t)packed_number(block->ids, block->count, block->id_bits, entry);
        if (here == low && (key > floor.key || (key == floor.key && (long long)id > floor.id))) {
            if (!add_match(found, place, id)) {
                return false;
            }
            most--;
        }
    }
    return true;
}

PyObject *native_find_ids(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer data, keys;
    Py_ssize_t begin, end, most;
    Floor floor;
    if (!PyArg_ParseTuple(args, "y*y*nnKLn", &data, &keys, &begin, &end, &floor.key, &floor.id, &most)) {
        return NULL;
    }
    const uint64_t *wanted = keys.buf;
    Matches found = {0};
    Cursor cursor = {0};
    IdBlock block;
    bool is_right = is_block(data.buf, (size_t)data.len, &block) && begin >= 0 && end <= keys.len / (Py_ssize_t)sizeof *wanted;
    for (Py_ssize_t at = begin; is_right && at < end; at++) {
        if (at > begin && wanted[at] < wanted[at - 1]) {
            is_right = false;
        } else {
            is_right = find_key(&block, &cursor, wanted[at], floor, at, most, &found);
        }
    }
    PyObject *result = NULL;
    if (!is_right) {
        PyErr_SetString(PyExc_ValueError, "a packed block and ascending keys are expected");
    } else if (!found.count) {
        result = Py_NewRef(Py_None);
    } else {
        result = Py_BuildValue(
            "y#y#", found.places, (Py_ssize_t)(found.count * sizeof *found.places), found.ids,
            (Py_ssize_t)(found.count * sizeof *found.ids)
        );
    }
    free(found.places);
    free(found.ids);
    PyBuffer_Release(&data);
    PyBuffer_Release(&keys);
    return result;
}

static PyObject *packed(const uint64_t *keys, const uint32_t *ids, size_t count) {
    uint32_t least = ids[0], most = ids[0];
    for (size_t at = 1; at < count; at++) {
        least = ids[at] < least ? ids[at] : least;
        most = ids[at] > most ? ids[at] : most;
    }
    uint64_t first = keys[0], span = keys[count - 1] - first;
    unsigned low = bits_of(span / count), id_bits = bits_of(most - least);
    low = low ? low - 1 : 0;
    size_t row_bytes = (size_t)((span >> low) + count + BYTE_BITS - 1) / BYTE_BITS, head = HEADER_BYTES + ROW_HEADER_BYTES;
    size_t size = head + row_bytes + packed_size(count, low) + packed_size(count, id_bits);
    PyObject *block = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (block == NULL) {
        return NULL;
    }
    byte *to = (byte *)PyBytes_AsString(block);
    memset(to, 0, size);
    pack_number(to, 1, 16, 0, count);
    to[2] = (byte)(PACKED | low);
    to[3] = (byte)id_bits;
    pack_number(to + 4, 1, 64, 0, first);
    pack_number(to + HEADER_BYTES, 1, 32, 0, least);
    pack_number(to + HEADER_BYTES + 4, 1, 32, 0, row_bytes);
    byte *row = to + head, *lows = row + row_bytes, *id_bytes = lows + packed_size(count, low);
    for (size_t at = 0; at < count; at++) {
        uint64_t rest = keys[at] - first, one = (rest >> low) + at;
        row[one / BYTE_BITS] |= (byte)(1u << one % BYTE_BITS);
        pack_number(lows, count, low, at, rest & ((UINT64_C(1) << low) - 1));
        pack_number(id_bytes, count, id_bits, at, ids[at] - least);
    }
    return block;
}

PyObject *native_pack_ids(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer keys, ids;
    if (!PyArg_ParseTuple(args, "y*y*", &keys, &ids)) {
        return NULL;
    }
    size_t count = (size_t)keys.len / sizeof(uint64_t);
    PyObject *block = NULL;
    bool ascends = count > 0 && count <= UINT16_MAX && (size_t)ids.len == count * sizeof(uint32_t);
    const uint64_t *each = keys.buf;
    for (size_t at = 1; ascends && at < count; at++) {
        ascends = each[at - 1] <= each[at];
    }
    if (ascends) {
        block = packed(each, ids.buf, count);
    } else {
        PyErr_SetString(PyExc_ValueError, "ascending keys are expected, each with an id");
    }
    PyBuffer_Release(&keys);
    PyBuffer_Release(&ids);
    return block;
}
