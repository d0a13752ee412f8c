/* Sorted arrays of hashes with ids: a search for many hashes, and two arrays made one. `state/url_seen.py` does the same
   with numpy. */

#include "native.h"

enum { AHEAD = 16 }; /* searches whose memory is asked for before the first of them goes on */

/* Where a hash would stand, were all of them evenly spread. */
static size_t guess(const uint64_t *hashes, size_t count, uint64_t wanted) {
    uint64_t first = hashes[0], last = hashes[count - 1];
    if (wanted <= first) {
        return 0;
    }
    if (wanted >= last) {
        return count - 1;
    }
    return (size_t)((double)(wanted - first) / (double)(last - first) * (double)(count - 1));
}

/* The place of a hash, or `count` if it is not there. From the guess on in ever larger steps, so that it takes no longer
   than a binary search where hashes are spread in another way. */
static size_t place_of(const uint64_t *hashes, size_t count, size_t at, uint64_t wanted) {
    size_t low = at, high = at, step = 8;
    if (hashes[at] < wanted) {
        while (high < count && hashes[high] < wanted) {
            low = high;
            high = count - high < step ? count : high + step;
            step *= 2;
        }
    } else {
        while (low > 0 && hashes[low] >= wanted) {
            high = low;
            low = low < step ? 0 : low - step;
            step *= 2;
        }
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hashes[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && hashes[low] == wanted ? low : count;
}

static void look_up(const uint64_t *hashes, const uint32_t *ids, size_t count, const uint64_t *wanted, uint32_t *found, size_t asked) {
    for (size_t begin = 0; count && begin < asked; begin += AHEAD) {
        size_t guesses[AHEAD], some = asked - begin < AHEAD ? asked - begin : AHEAD;
        for (size_t at = 0; at < some; at++) {
            guesses[at] = guess(hashes, count, wanted[begin + at]);
            __builtin_prefetch(hashes + guesses[at]);
        }
        for (size_t at = 0; at < some; at++) {
            size_t place = place_of(hashes, count, guesses[at], wanted[begin + at]);
            if (place < count) {
                found[begin + at] = ids[place];
            }
        }
    }
}

PyObject *native_look_up(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer hashes, ids, wanted, found;
    if (!PyArg_ParseTuple(args, "y*y*y*w*", &hashes, &ids, &wanted, &found)) {
        return NULL;
    }
    size_t count = (size_t)hashes.len / sizeof(uint64_t), asked = (size_t)wanted.len / sizeof(uint64_t);
    bool fits = (size_t)ids.len == count * sizeof(uint32_t) && (size_t)found.len == asked * sizeof(uint32_t);
    if (fits) {
        look_up(hashes.buf, ids.buf, count, wanted.buf, found.buf, asked);
    } else {
        PyErr_SetString(PyExc_ValueError, "an id for each hash is expected, and a place for each that is looked up");
    }
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&ids);
    PyBuffer_Release(&wanted);
    PyBuffer_Release(&found);
    return fits ? Py_NewRef(Py_None) : NULL;
}

/* Copies what lies between two new hashes at once. */
static void merge(
    const uint64_t *hashes, const uint32_t *ids, size_t count, const uint64_t *more, const uint32_t *more_ids, size_t added,
    uint64_t *to, uint32_t *to_ids
) {
    size_t at = 0;
    for (size_t next = 0; next <= added; next++) {
        size_t end = at;
        while (end < count && (next == added || hashes[end] < more[next])) {
            end++;
        }
        memcpy(to, hashes + at, (end - at) * sizeof *to);
        memcpy(to_ids, ids + at, (end - at) * sizeof *to_ids);
        to += end - at;
        to_ids += end - at;
        at = end;
        if (next < added) {
            *to++ = more[next];
            *to_ids++ = more_ids[next];
        }
    }
}

PyObject *native_merged_hashes(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer hashes, ids, more, more_ids;
    if (!PyArg_ParseTuple(args, "y*y*y*y*", &hashes, &ids, &more, &more_ids)) {
        return NULL;
    }
    size_t count = (size_t)hashes.len / sizeof(uint64_t), added = (size_t)more.len / sizeof(uint64_t);
    PyObject *all = NULL, *all_ids = NULL, *result = NULL;
    if ((size_t)ids.len != count * sizeof(uint32_t) || (size_t)more_ids.len != added * sizeof(uint32_t)) {
        PyErr_SetString(PyExc_ValueError, "an id for each hash is expected");
        goto end;
    }
    all = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((count + added) * sizeof(uint64_t)));
    all_ids = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((count + added) * sizeof(uint32_t)));
    if (all != NULL && all_ids != NULL) {
        merge(
            hashes.buf, ids.buf, count, more.buf, more_ids.buf, added,
            (uint64_t *)PyBytes_AsString(all), (uint32_t *)PyBytes_AsString(all_ids)
        );
        result = PyTuple_Pack(2, all, all_ids);
    }
end:
    Py_XDECREF(all);
    Py_XDECREF(all_ids);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&ids);
    PyBuffer_Release(&more);
    PyBuffer_Release(&more_ids);
    return result;
}
