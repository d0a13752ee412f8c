/* Sorted runs (`state/runs/`): which runs may have a key, and blocks of keys with ids, packed and unpacked.
   `state/runs/filters.py`, `packing.py` and `entries.py` do the same with numpy, and say what the bytes mean. */

#include "native.h"

enum { PROBES = 4, BYTE_BITS = 8, WORD_BITS = 64, HEADER_BYTES = 12, ROW_HEADER_BYTES = 8, PACKED = 0x80 };

static const uint64_t MIX = 0x9E3779B97F4A7C15u;
static const uint64_t LOW_HALF = 0xFFFFFFFFu;

/* What is known of one run: the first key of each segment, and where its filter lies in those of the run. */
typedef struct {
    const uint64_t *firsts;
    const byte *filters;
    const int64_t *starts, *sizes;
    Py_ssize_t segments, filter_bytes;
    uint64_t least; /* no live entry has a lower key */
    bool has_filters;
} Run;

static bool is_in_filter(const Run *run, Py_ssize_t segment, uint64_t key) {
    int64_t start = run->starts[segment], size = run->sizes[segment];
    if (start < 0 || size <= 0 || size > run->filter_bytes - start) {
        return true; /* it cannot be told */
    }
    uint64_t mixed = key * MIX, step = (mixed & LOW_HALF) | 1, high = mixed >> 32;
    uint64_t bits = (uint64_t)size * BYTE_BITS;
    for (uint64_t probe = 0; probe < PROBES; probe++) {
        uint64_t place = (((high + probe * step) & LOW_HALF) * bits) >> 32;
        if (!(run->filters[start + (int64_t)(place >> 3)] >> (place & 7) & 1)) {
            return false;
        }
    }
    return true;
}

static bool may_have(const Run *run, uint64_t key) {
    if (!run->segments || key < run->firsts[0] || key < run->least) {
        return false;
    }
    if (!run->has_filters) {
        return true;
    }
    Py_ssize_t low = 0, high = run->segments; /* the last segment that begins at the key or before it */
    while (high - low > 1) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (run->firsts[middle] <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    /* The ids of one key may go on from the segment before. */
    return is_in_filter(run, low, key) || (low > 0 && run->firsts[low] == key && is_in_filter(run, low - 1, key));
}

/* The places of the keys that a run may have, as bytes. */
static PyObject *places_in(const Run *run, const uint64_t *keys, Py_ssize_t count) {
    int64_t *places = malloc((size_t)(count ? count : 1) * sizeof *places);
    if (places == NULL) {
        return PyErr_NoMemory();
    }
    Py_ssize_t found = 0;
    for (Py_ssize_t at = 0; at < count; at++) {
        places[found] = at;
        found += may_have(run, keys[at]);
    }
    PyObject *result = PyBytes_FromStringAndSize((const char *)places, found * (Py_ssize_t)sizeof *places);
    free(places);
    return result;
}

static PyObject *places_in_row(PyObject *row, const uint64_t *keys, Py_ssize_t count) {
    Py_buffer firsts, filters, starts, sizes;
    unsigned long long least;
    if (!PyArg_ParseTuple(row, "Ky*y*y*y*;a run's columns", &least, &firsts, &filters, &starts, &sizes)) {
        return NULL;
    }
    Run run = {
        .firsts = firsts.buf, .filters = filters.buf, .starts = starts.buf, .sizes = sizes.buf,
        .segments = firsts.len / (Py_ssize_t)sizeof(uint64_t), .filter_bytes = filters.len,
        .least = least, .has_filters = starts.len > 0,
    };
    PyObject *places = NULL;
    if (run.has_filters && (starts.len != firsts.len || sizes.len != firsts.len)) {
        PyErr_SetString(PyExc_ValueError, "a filter for each segment is expected");
    } else {
        places = places_in(&run, keys, count);
    }
    PyBuffer_Release(&firsts);
    PyBuffer_Release(&filters);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&sizes);
    return places;
}

PyObject *native_places_in_runs(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer keys;
    PyObject *rows;
    if (!PyArg_ParseTuple(args, "y*O!", &keys, &PyList_Type, &rows)) {
        return NULL;
    }
    Py_ssize_t count = PyList_Size(rows);
    PyObject *found = PyList_New(count);
    for (Py_ssize_t at = 0; found != NULL && at < count; at++) {
        PyObject *places = places_in_row(PyList_GetItem(rows, at), keys.buf, keys.len / (Py_ssize_t)sizeof(uint64_t));
        if (places == NULL) {
            Py_CLEAR(found);
        } else {
            PyList_SetItem(found, at, places);
        }
    }
    PyBuffer_Release(&keys);
    return found;
}

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

/* Sets keys and ids of a block; false if it is damaged. */
static bool unpack(const byte *block, size_t size, size_t count, uint64_t *keys, uint32_t *ids) {
    unsigned low = (unsigned)block[2] - PACKED, id_bits = block[3];
    uint64_t first = whole_bytes(block + 4, 8);
    uint32_t least = (uint32_t)whole_bytes(block + HEADER_BYTES, 4);
    size_t row_bytes = (size_t)whole_bytes(block + HEADER_BYTES + 4, 4), head = HEADER_BYTES + ROW_HEADER_BYTES;
    if (low > WORD_BITS || id_bits > WORD_BITS || row_bytes > size - head) {
        return false;
    }
    const byte *row = block + head, *lows = row + row_bytes;
    if (size != head + row_bytes + packed_size(count, low) + packed_size(count, id_bits)) {
        return false;
    }
    const byte *id_bytes = lows + packed_size(count, low);
    size_t found = 0;
    for (size_t at = 0; at < row_bytes; at++) {
        for (unsigned bits = row[at]; bits; bits &= bits - 1) {
            if (found == count) {
                return false;
            }
            uint64_t high = at * BYTE_BITS + (unsigned)__builtin_ctz(bits) - found;
            keys[found] = first + ((low < WORD_BITS ? high << low : 0) | packed_number(lows, count, low, found));
            ids[found] = least + (uint32_t)packed_number(id_bytes, count, id_bits, found);
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
    const byte *from = block.buf;
    PyObject *keys = NULL, *ids = NULL, *found = NULL;
    if (block.len < HEADER_BYTES + ROW_HEADER_BYTES || from[2] < PACKED) {
        PyErr_SetString(PyExc_ValueError, "no packed block");
        goto end;
    }
    size_t count = (size_t)whole_bytes(from, 2);
    keys = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(uint64_t)));
    ids = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(uint32_t)));
    if (keys == NULL || ids == NULL) {
        goto end;
    }
    if (unpack(from, (size_t)block.len, count, (uint64_t *)PyBytes_AsString(keys), (uint32_t *)PyBytes_AsString(ids))) {
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
