/* For trecweb.py: could a body hold one of the tags that end a record? */

#include "native.h"

PyObject *native_may_hold_doc_tag(PyObject *self, PyObject *body) {
    (void)self;
    Py_buffer bytes;
    if (PyObject_GetBuffer(body, &bytes, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    const byte *at = bytes.buf, *end = at + bytes.len;
    bool found = false;
    while (!found && at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        at++;
        const byte *name = at + (at < end && *at == '/');
        found = end - name >= 3 && (name[0] | 0x20) == 'd' && (name[1] | 0x20) == 'o' && (name[2] | 0x20) == 'c';
    }
    PyBuffer_Release(&bytes);
    return PyBool_FromLong(found);
}
