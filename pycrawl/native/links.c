/* What links came to, remembered by their text: `parse/links.py` says what that is good for. Most links of a page were met
   before, and then nothing of Python runs for them.

   A text is known by 64 bits of a keyed hash, so whoever writes links cannot make two that are taken for one. The table
   forgets: four entries share a cache line, and a fifth drives out the oldest of them. */

#include "link_table.h"

static void remember(LinkCache *cache, uint64_t key, uint64_t value) {
    Entry *bucket = bucket_of(cache, key);
    int way = 0;
    while (way < WAYS - 1 && bucket[way].key != key && bucket[way].key != 0) {
        way++;
    }
    if (bucket[way].key == key) {
        bucket[way].value = value;
        return;
    }
    memmove(bucket + 1, bucket, (size_t)way * sizeof *bucket);
    bucket[0] = (Entry){key, value};
}

typedef struct {
    uint64_t *texts, *values; /* sets: what was met on this page */
    size_t mask;
    uint64_t *known;
    size_t known_count;
    byte *reasons;
    size_t reason_count;
    PyObject *unknown;
} Found;

/* A link of a page, on its way to being looked up. */
typedef struct {
    PyObject *href;
    const char *text; /* NULL: half a surrogate pair, which no decoder leaves */
    size_t size, length; /* with and without its fragment */
    uint64_t key; /* of the text written out, or as it stands */
    bool is_written; /* out; only such texts are remembered */
} Asked;

/* Finds out what to look for, and asks for its bucket. The table is larger than the processor's caches, so nearly every
   look-up waits for the memory; those of a page wait all at once. */
static void ask_for(const LinkCache *cache, const Place *place, PyObject *href, Asked *asked) {
    Py_ssize_t size;
    *asked = (Asked){.href = href, .text = PyUnicode_AsUTF8AndSize(href, &size)};
    if (asked->text == NULL) {
        PyErr_Clear();
        return;
    }
    asked->size = (size_t)size;
    asked->length = without_fragment(asked->text, asked->size);
    char written[LONGEST_TEXT];
    size_t written_length = asked->length ? write_out(place, asked->text, asked->length, written) : 0;
    asked->is_written = written_length > 0;
    if (asked->is_written) {
        asked->key = key_of(cache, (const byte *)written, written_length);
        __builtin_prefetch(bucket_of(cache, asked->key));
    } else {
        asked->key = key_of(cache, (const byte *)asked->text, asked->length);
    }
}

static int look_at(const LinkCache *cache, const Asked *asked, bool skips_empty, uint64_t own, Found *found) {
    if (asked->text == NULL) {
        return PyList_Append(found->unknown, asked->href);
    }
    if (asked->length == 0 && skips_empty) {
        return 0;
    }
    if (!add_to_set(found->texts, found->mask, asked->key)) {
        return 0;
    }
    uint64_t value = asked->is_written ? remembered(cache, asked->key) : 0;
    if (value >= FIRST_HASH) {
        if (value != own && add_to_set(found->values, found->mask, value)) {
            found->known[found->known_count++] = value;
        }
        return 0;
    }
    if (value != 0) {
        found->reasons[found->reason_count++] = (byte)value;
        return 0;
    }
    if (asked->length == asked->size) {
        return PyList_Append(found->unknown, asked->href);
    }
    PyObject *kept = PyUnicode_DecodeUTF8(asked->text, (Py_ssize_t)asked->length, NULL);
    int failed = kept == NULL ? -1 : PyList_Append(found->unknown, kept);
    Py_XDECREF(kept);
    return failed;
}

static PyObject *look_at_all(const LinkCache *cache, const Place *place, PyObject *hrefs, bool skips_empty, uint64_t own) {
    Py_ssize_t count = PyList_Size(hrefs);
    size_t slots = slots_for((size_t)count);
    Found found = {.mask = slots - 1, .unknown = PyList_New(0)};
    Asked *asked = malloc(((size_t)count + 1) * sizeof *asked);
    found.texts = calloc(2 * slots, sizeof *found.texts);
    found.known = malloc(((size_t)count + 1) * sizeof *found.known);
    found.reasons = malloc((size_t)count + 1);
    PyObject *result = NULL;
    bool failed = found.unknown == NULL;
    if (asked == NULL || found.texts == NULL || found.known == NULL || found.reasons == NULL) {
        PyErr_NoMemory();
        failed = true;
    } else {
        found.values = found.texts + slots;
    }
    for (Py_ssize_t number = 0; !failed && number < count; number++) {
        PyObject *href = PyList_GetItem(hrefs, number);
        if (href == NULL || !PyUnicode_Check(href)) {
            PyErr_SetString(PyExc_TypeError, "expected a list of texts");
            failed = true;
        } else {
            ask_for(cache, place, href, &asked[number]);
        }
    }
    for (Py_ssize_t number = 0; !failed && number < count; number++) {
        failed = look_at(cache, &asked[number], skips_empty, own, &found) < 0;
    }
    if (!failed) {
        result = Py_BuildValue("y#y#O", found.known, (Py_ssize_t)(found.known_count * sizeof *found.known), found.reasons,
                               (Py_ssize_t)found.reason_count, found.unknown);
    }
    free(asked);
    free(found.texts);
    free(found.known);
    free(found.reasons);
    Py_XDECREF(found.unknown);
    return result;
}

static PyObject *cache_look(PyObject *self, PyObject *args) {
    PyObject *hrefs;
    Place place;
    Py_ssize_t home_length, folder_length;
    int skips_empty;
    unsigned long long own;
    if (!PyArg_ParseTuple(args, "O!s#s#pK", &PyList_Type, &hrefs, &place.home, &home_length, &place.folder, &folder_length,
                          &skips_empty, &own)) {
        return NULL;
    }
    place.home_length = (size_t)home_length;
    place.folder_length = (size_t)folder_length;
    return look_at_all((LinkCache *)self, &place, hrefs, skips_empty, own);
}

static PyObject *cache_add(PyObject *self, PyObject *args) {
    const char *text;
    Py_ssize_t length;
    unsigned long long value;
    if (!PyArg_ParseTuple(args, "s#K", &text, &length, &value)) {
        return NULL;
    }
    LinkCache *cache = (LinkCache *)self;
    if (length <= LONGEST_TEXT && value != 0) {
        remember(cache, key_of(cache, (const byte *)text, (size_t)length), value);
    }
    Py_RETURN_NONE;
}

static PyObject *cache_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)keywords;
    Py_ssize_t entries;
    unsigned long long first_secret, second_secret;
    if (!PyArg_ParseTuple(args, "nKK", &entries, &first_secret, &second_secret)) {
        return NULL;
    }
    if (entries < WAYS || (entries & (entries - 1)) != 0) {
        PyErr_Format(PyExc_ValueError, "expected a power of two from %d on, found %zd", WAYS, entries);
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    LinkCache *cache = (LinkCache *)allocate(type, 0);
    if (cache == NULL) {
        return NULL;
    }
    cache->buckets = (size_t)entries / WAYS;
    cache->secrets[0] = first_secret;
    cache->secrets[1] = second_secret;
    cache->entries = calloc((size_t)entries, sizeof *cache->entries);
    if (cache->entries == NULL) {
        Py_DECREF(cache);
        return PyErr_NoMemory();
    }
    return (PyObject *)cache;
}

static void cache_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(((LinkCache *)self)->entries);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"look", cache_look, METH_VARARGS, "What is known of a page's links."},
    {"anchors", cache_anchors, METH_VARARGS, "What a page's links came to, with the hashes of their texts."},
    {"add", cache_add, METH_VARARGS, "Remember what a link came to."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_new, cache_new},
    {Py_tp_dealloc, cache_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What links came to, by their text."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pycrawl.native._compiled.LinkCache", .basicsize = sizeof(LinkCache), .flags = Py_TPFLAGS_DEFAULT, .slots = type_slots,
};

int add_link_cache(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    int failed = type == NULL ? -1 : PyModule_AddObjectRef(module, "LinkCache", type);
    Py_XDECREF(type);
    return failed;
}
