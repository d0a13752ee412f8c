/* Which sorted runs may have a key: the Bloom filters of their segments. `state/runs/filters.py` does the same with numpy,
   and says which bits a key sets. */

#include "native.h"

enum { PROBES = 4, KEYS_AHEAD = 64, BYTE_BITS = 8 };

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

/* The bit of a filter that a probe of a key looks at. */
static inline uint64_t probed(uint64_t mixed, uint64_t probe, uint64_t bits) {
    return ((((mixed >> 32) + probe * ((mixed & LOW_HALF) | 1)) & LOW_HALF) * bits) >> 32;
}

/* False if the filter of a segment lies outside those of its run: nothing can be told by it then. */
static inline bool has_filter(const Run *run, Py_ssize_t segment) {
    int64_t start = run->starts[segment], size = run->sizes[segment];
    return start >= 0 && size > 0 && size <= run->filter_bytes - start;
}

static bool is_in_filter(const Run *run, Py_ssize_t segment, uint64_t key) {
    if (!has_filter(run, segment)) {
        return true;
    }
    const byte *filter = run->filters + run->starts[segment];
    uint64_t mixed = key * MIX, bits = (uint64_t)run->sizes[segment] * BYTE_BITS;
    for (uint64_t probe = 0; probe < PROBES; probe++) {
        uint64_t place = probed(mixed, probe, bits);
        if (!(filter[place >> 3] >> (place & 7) & 1)) {
            return false;
        }
    }
    return true;
}

/* The last segment that begins at the key or before it; -1: the run has no live entry of the key. `guess` is tried
   first: that of the key before, as keys mostly ascend. */
static Py_ssize_t segment_of(const Run *run, Py_ssize_t guess, uint64_t key) {
    if (!run->segments || key < run->firsts[0] || key < run->least) {
        return -1;
    }
    if (guess >= 0 && run->firsts[guess] <= key && (guess + 1 == run->segments || key < run->firsts[guess + 1])) {
        return guess;
    }
    Py_ssize_t low = 0, high = run->segments;
    while (high - low > 1) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (run->firsts[middle] <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Large filters are in no cache: the memory for many keys is asked for before the first of them is looked at. */
static inline const byte *first_probed(const Run *run, Py_ssize_t segment, uint64_t key, unsigned *bit) {
    uint64_t place = probed(key * MIX, 0, (uint64_t)run->sizes[segment] * BYTE_BITS);
    *bit = place & 7;
    return run->filters + run->starts[segment] + (place >> 3);
}

static inline void fetch_other_probes(const Run *run, Py_ssize_t segment, uint64_t key) {
    uint64_t mixed = key * MIX, bits = (uint64_t)run->sizes[segment] * BYTE_BITS;
    for (uint64_t probe = 1; probe < PROBES; probe++) {
        __builtin_prefetch(run->filters + run->starts[segment] + (probed(mixed, probe, bits) >> 3));
    }
}

static bool may_have(const Run *run, Py_ssize_t segment, uint64_t key) {
    if (segment < 0 || !run->has_filters) {
        return segment >= 0;
    }
    /* The ids of one key may go on from the segment before. */
    return is_in_filter(run, segment, key)
        || (segment > 0 && run->firsts[segment] == key && is_in_filter(run, segment - 1, key));
}

/* The places of the keys that a run may have, as bytes. */
static PyObject *places_in(const Run *run, const uint64_t *keys, Py_ssize_t count) {
    int64_t *places = malloc((size_t)(count ? count : 1) * sizeof *places);
    if (places == NULL) {
        return PyErr_NoMemory();
    }
    Py_ssize_t found = 0, segment = -1;
    for (Py_ssize_t begin = 0; begin < count; begin += KEYS_AHEAD) {
        Py_ssize_t end = count - begin < KEYS_AHEAD ? count : begin + KEYS_AHEAD, likely = 0;
        struct {
            Py_ssize_t place, segment;
            const byte *probed; /* NULL: the filter cannot tell by its first probe alone */
            unsigned bit;
        } some[KEYS_AHEAD];
        for (Py_ssize_t at = begin; at < end; at++) {
            segment = segment_of(run, segment, keys[at]);
            if (segment < 0) {
                continue;
            }
            some[likely].place = at;
            some[likely].segment = segment;
            some[likely].probed = NULL;
            if (run->has_filters && has_filter(run, segment) && run->firsts[segment] != keys[at]) {
                some[likely].probed = first_probed(run, segment, keys[at], &some[likely].bit);
                __builtin_prefetch(some[likely].probed);
            }
            likely++;
        }
        Py_ssize_t passed = 0;
        for (Py_ssize_t at = 0; at < likely; at++) {
            if (some[at].probed == NULL || *some[at].probed >> some[at].bit & 1) {
                if (some[at].probed != NULL) {
                    fetch_other_probes(run, some[at].segment, keys[some[at].place]);
                }
                some[passed++] = some[at];
            }
        }
        for (Py_ssize_t at = 0; at < passed; at++) {
            places[found] = some[at].place;
            found += may_have(run, some[at].segment, keys[some[at].place]);
        }
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
