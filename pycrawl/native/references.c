/* Character references ("&amp;", "&#38;", "&#x26;") as the HTML standard reads them. */

#include "native.h"

#define LONGEST_ENTITY 32
#define LONGEST_BARE_ENTITY 6 /* without a semicolon */

static PyObject *entities; /* name, with its semicolon if it has one → characters */

static size_t put_character(char *to, uint32_t code) {
    static const uint16_t WINDOWS_1252[32] = {
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
        0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
    };
    if (code >= 0x80 && code < 0xA0) {
        code = WINDOWS_1252[code - 0x80];
    }
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        code = 0xFFFD;
    }
    return (size_t)(put_utf8((byte *)to, code) - (byte *)to);
}

static const byte *numeric_reference(const byte *from, const byte *end, char *to, size_t *length) {
    const byte *at = from + 2;
    bool is_hex = at < end && (*at | 0x20) == 'x';
    at += is_hex;
    const byte *digits = at;
    uint32_t code = 0;
    for (; at < end; at++) {
        byte low = *at | 0x20;
        if (is_digit(*at)) {
            code = code * (is_hex ? 16 : 10) + (*at - '0');
        } else if (is_hex && low >= 'a' && low <= 'f') {
            code = code * 16 + (low - 'a' + 10);
        } else {
            break;
        }
        code = code > 0x110000 ? 0x110000 : code;
    }
    if (at == digits) {
        return from;
    }
    *length = put_character(to, code);
    return at < end && *at == ';' ? at + 1 : at;
}

static size_t put_named(const byte *name, size_t name_length, char *to) {
    char key[LONGEST_ENTITY + 2];
    memcpy(key, name, name_length);
    key[name_length] = 0;
    PyObject *known = PyDict_GetItemString(entities, key);
    Py_ssize_t length = 0;
    const char *characters = known != NULL ? PyUnicode_AsUTF8AndSize(known, &length) : NULL;
    if (characters == NULL || length > 8) {
        return 0;
    }
    memcpy(to, characters, (size_t)length);
    return (size_t)length;
}

static const byte *named_reference(const byte *from, const byte *end, bool in_attribute, char *to, size_t *length) {
    const byte *name = from + 1, *at = name;
    while (at < end && at - name < LONGEST_ENTITY && (is_letter(*at) || is_digit(*at))) {
        at++;
    }
    size_t run = (size_t)(at - name);
    if (run > 1 && at < end && *at == ';' && (*length = put_named(name, run + 1, to)) > 0) {
        return at + 1;
    }
    for (size_t bare = run < LONGEST_BARE_ENTITY ? run : LONGEST_BARE_ENTITY; bare > 1; bare--) {
        const byte *behind = name + bare;
        bool goes_on = behind < end && (*behind == '=' || is_letter(*behind) || is_digit(*behind));
        if (!(in_attribute && goes_on) && (*length = put_named(name, bare, to)) > 0) {
            return behind;
        }
    }
    return from;
}

const byte *reference(const byte *from, const byte *end, bool in_attribute, char *to, size_t *length) {
    if (end - from < 2) {
        return from;
    }
    return from[1] == '#' ? numeric_reference(from, end, to, length) : named_reference(from, end, in_attribute, to, length);
}

bool are_entities_set(void) {
    return entities != NULL;
}

PyObject *native_set_entities(PyObject *self, PyObject *known) {
    (void)self;
    if (!PyDict_Check(known)) {
        PyErr_SetString(PyExc_TypeError, "expected a dict");
        return NULL;
    }
    Py_INCREF(known);
    Py_XDECREF(entities);
    entities = known;
    Py_RETURN_NONE;
}
