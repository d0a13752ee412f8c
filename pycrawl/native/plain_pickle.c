/* Is a pickle made of plain values only? `processes/plain_pickle.py` does the same, and says what that is good for. */

#include "native.h"

enum { REFUSED = -1, BYTE_COUNT = -2, INT_COUNT = -3, LONG_COUNT = -4 };

/* How many bytes follow an opcode; or, below REFUSED, how long the number is that says it. */
static int operand(byte opcode) {
    switch (opcode) {
    case '.': case 'N': case 0x88: case 0x89: case ')': case 0x85: case 0x86: case 0x87: case 't': case '(': case ']':
    case 'a': case 'e': case '}': case 's': case 'u': case 0x94:
        return 0;
    case 0x80: case 'K': case 'h':
        return 1;
    case 'M':
        return 2;
    case 'J': case 'j':
        return 4;
    case 'G': case 0x95:
        return 8;
    case 0x8a: case 0x8c: case 'C':
        return BYTE_COUNT;
    case 'X': case 'B':
        return INT_COUNT;
    case 0x8d: case 0x8e:
        return LONG_COUNT;
    default:
        return REFUSED;
    }
}

static bool is_plain(const byte *at, const byte *end) {
    while (at < end) {
        byte opcode = *at++;
        int follows = operand(opcode);
        uint64_t length = (uint64_t)follows;
        if (follows == REFUSED) {
            return false;
        }
        if (follows < REFUSED) {
            int size = follows == BYTE_COUNT ? 1 : follows == INT_COUNT ? 4 : 8;
            if (end - at < size) {
                return false;
            }
            length = 0;
            for (int place = 0; place < size; place++) {
                length |= (uint64_t)at[place] << (8 * place);
            }
            at += size;
        }
        if ((uint64_t)(end - at) < length) {
            return false;
        }
        at += length;
        if (opcode == '.') {
            return at == end;
        }
    }
    return false;
}

PyObject *native_is_plain_pickle(PyObject *self, PyObject *data) {
    (void)self;
    Py_buffer bytes;
    if (PyObject_GetBuffer(data, &bytes, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    const byte *from = bytes.buf;
    bool found = is_plain(from, from + bytes.len);
    PyBuffer_Release(&bytes);
    return PyBool_FromLong(found);
}
