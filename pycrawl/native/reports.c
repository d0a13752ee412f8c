/* What the caller is told of a page: its links, and elements with all their attributes. */

#include "scan.h"

static PyObject *value_of(const Attribute *attribute) {
    const byte *from = attribute->value, *end = from + attribute->value_length;
    if (memchr(from, '&', attribute->value_length) == NULL && memchr(from, 0, attribute->value_length) == NULL) {
        return PyUnicode_DecodeUTF8((const char *)from, (Py_ssize_t)attribute->value_length, "replace");
    }
    char *decoded = malloc(3 * attribute->value_length + 16), *to = decoded;
    if (decoded == NULL) {
        return PyErr_NoMemory();
    }
    while (from < end) {
        size_t length = 0;
        const byte *behind = *from == '&' ? reference(from, end, true, to, &length) : from;
        if (behind > from) {
            to += length;
            from = behind;
        } else if (*from == 0) {
            to = (char *)put_utf8((byte *)to, 0xFFFD);
            from++;
        } else {
            *to++ = (char)*from++;
        }
    }
    PyObject *value = PyUnicode_DecodeUTF8(decoded, to - decoded, "replace");
    free(decoded);
    return value;
}

/* A URL as the URL standard reads it: no white space around it, no line breaks or tabs inside. */
static PyObject *url_of(const Attribute *attribute) {
    bool is_clean = true;
    for (size_t place = 0; place < attribute->value_length; place++) {
        is_clean &= attribute->value[place] > ' ' && attribute->value[place] != '&';
    }
    if (is_clean) {
        return PyUnicode_DecodeUTF8((const char *)attribute->value, (Py_ssize_t)attribute->value_length, "replace");
    }
    PyObject *value = value_of(attribute);
    Py_ssize_t length = 0;
    const char *characters = value != NULL ? PyUnicode_AsUTF8AndSize(value, &length) : NULL;
    if (characters == NULL) {
        Py_XDECREF(value);
        return NULL;
    }
    const char *from = characters, *end = characters + length;
    while (from < end && is_space[(byte)*from]) {
        from++;
    }
    while (end > from && is_space[(byte)end[-1]]) {
        end--;
    }
    char *cleaned = malloc((size_t)(end - from) + 1), *to = cleaned;
    PyObject *url = NULL;
    if (cleaned == NULL) {
        PyErr_NoMemory();
    } else {
        for (; from < end; from++) {
            if (*from != '\t' && *from != '\n' && *from != '\r') {
                *to++ = *from;
            }
        }
        url = PyUnicode_DecodeUTF8(cleaned, to - cleaned, "replace");
    }
    free(cleaned);
    Py_DECREF(value);
    return url;
}

static PyObject *all_attributes(const Page *page) {
    PyObject *found = PyDict_New();
    for (size_t place = page->attribute_count; found != NULL && place-- > 0;) { /* of two with one name the first counts */
        const Attribute *one = &page->attributes[place];
        PyObject *as_written = PyUnicode_DecodeUTF8((const char *)one->name, (Py_ssize_t)one->name_length, "replace");
        PyObject *name = as_written != NULL ? PyObject_CallMethod(as_written, "lower", NULL) : NULL;
        PyObject *value = name != NULL ? value_of(one) : NULL;
        if (value == NULL || PyDict_SetItem(found, name, value) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(value);
        Py_XDECREF(name);
        Py_XDECREF(as_written);
    }
    return found;
}

/* Tells the caller of an element with all its attributes, unless a template holds it. */
int report(Page *page, const char *name) {
    if (current(page)->is_inert) {
        return 0;
    }
    PyObject *attributes = all_attributes(page);
    if (attributes == NULL) {
        return -1;
    }
    PyObject *answer = PyObject_CallFunction(page->element, "sO", name, attributes);
    Py_DECREF(attributes);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

static bool mentions(const Attribute *attribute, const char *word) {
    size_t length = strlen(word);
    for (size_t begin = 0; begin + length <= attribute->value_length; begin++) {
        size_t same = 0;
        while (same < length && small(attribute->value[begin + same]) == (byte)word[same]) {
            same++;
        }
        if (same == length) {
            return true;
        }
    }
    return false;
}

/* Links */

int end_link(Page *page) {
    page->in_link = false;
    if (page->is_anchor_open) {
        page->anchors[page->anchor_count - 1].end = page->length;
        page->is_anchor_open = false;
    }
    return 0;
}

/* Adds the link of the tag that was read last. Returns its URL, or NULL, with an error set only if that failed. */
static PyObject *add_url(Page *page) {
    const Attribute *href = attribute(page, "href");
    if (href == NULL || href->value_length == 0 || current(page)->is_inert) {
        return NULL;
    }
    const Attribute *rel = attribute(page, "rel");
    bool is_nofollow = rel != NULL && mentions(rel, "nofollow");
    if (is_nofollow && report(page, page->tag == TAG_AREA ? "area" : "a") < 0) {
        return NULL;
    }
    PyObject *url = url_of(href);
    bool is_kept = url != NULL && PyUnicode_GetLength(url) > 0;
    if (!is_kept || (!is_nofollow && PyDict_SetItem(page->hrefs, url, Py_None) < 0)) {
        Py_CLEAR(url);
    }
    return url;
}

int add_href(Page *page) {
    Py_XDECREF(add_url(page));
    return PyErr_Occurred() ? -1 : 0;
}

static bool is_word(const byte *from, size_t length, const char *word) {
    size_t same = 0;
    while (same < length && word[same] != 0 && small(from[same]) == (byte)word[same]) {
        same++;
    }
    return same == length && word[same] == 0;
}

static byte rel_flags(const Attribute *rel) {
    byte flags = 0;
    const byte *from = rel->value, *end = from + rel->value_length;
    while (from < end) {
        const byte *begin = from;
        while (from < end && !is_space[*from]) {
            from++;
        }
        size_t length = (size_t)(from - begin);
        flags |= is_word(begin, length, "nofollow") ? LINK_NOFOLLOW : 0;
        flags |= is_word(begin, length, "sponsored") ? LINK_SPONSORED : 0;
        flags |= is_word(begin, length, "ugc") ? LINK_UGC : 0;
        from += from < end;
    }
    return flags;
}

/* Does the link go on that ended last? So it is if its URL and flags are the same, and nothing is shown between the two: a
   browser makes two links of one that paragraphs or tables cut. */
static bool goes_on(const Page *page, PyObject *url, byte flags) {
    if (page->anchor_count == 0) {
        return false;
    }
    const Anchor *last = &page->anchors[page->anchor_count - 1];
    size_t between = page->length - last->end;
    if (last->flags != flags || between > 1 || (between == 1 && page->text[last->end] != '\n')) {
        return false;
    }
    PyObject *last_url = PyList_GetItem(page->anchor_hrefs, (Py_ssize_t)page->anchor_count - 1);
    return last_url != NULL && PyUnicode_Compare(last_url, url) == 0;
}

static int begin_anchor(Page *page, PyObject *url) {
    const Attribute *rel = attribute(page, "rel");
    byte flags = rel != NULL ? rel_flags(rel) : 0;
    if (goes_on(page, url, flags)) {
        page->is_anchor_open = true;
        return 0;
    }
    if (page->anchor_count >= page->most_anchors) {
        return 0;
    }
    if (more_room((void **)&page->anchors, &page->anchor_room, page->anchor_count + 1, sizeof *page->anchors) < 0 ||
        PyList_Append(page->anchor_hrefs, url) < 0) {
        return -1;
    }
    page->anchors[page->anchor_count++] =
        (Anchor){.begin = page->length, .end = page->length, .block = page->block_count, .flags = flags};
    page->is_anchor_open = true;
    return 0;
}

int begin_link(Page *page) {
    end_link(page);
    page->in_link = true;
    PyObject *url = add_url(page);
    if (url == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    bool is_wanted = page->anchor_hrefs != NULL && !page->boxes[page->box].unseen;
    int failed = is_wanted ? begin_anchor(page, url) : 0;
    Py_DECREF(url);
    return failed;
}
