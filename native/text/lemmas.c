/* The lemmas of words, read from simplemma's dictionaries as they are stored.
 *
 * A dictionary is a header and one record per word, in the order of the words' bytes:
 *
 *     header   "SMFC1", flags (one byte), number of words
 *     record   bytes shared with the word before, number of further bytes, these bytes, trim (one byte),
 *              and unless trim is SAME_LEMMA: number of bytes of the rest, the rest
 *
 * The lemma is the word less its last `trim` bytes and the rest; all of it is the rest if trim is WHOLE_LEMMA,
 * and it is that of the word before if trim is SAME_LEMMA. Numbers have seven bits per byte, the lowest first.
 *
 * Words can only be read one after the other. The index stores, for every RECORDS_PER_BLOCK-th record, the word and
 * lemma before it; a lookup decodes at most RECORDS_PER_BLOCK records. An index is one Entry per block, then the words
 * and lemmas that the entries refer to. Indexes are in users' caches: another layout needs another name there.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { RECORDS_PER_BLOCK = 64, LONGEST = 4096, SAME_LEMMA = 254, WHOLE_LEMMA = 255 };

static const char MAGIC[5] = {'S', 'M', 'F', 'C', '1'};

typedef struct {
    uint32_t record;       /* where the first record of the block is in the dictionary */
    uint32_t before;       /* where the index has the word before it, followed by the lemma of that word */
    uint32_t word_length;
    uint32_t lemma_length;
} Entry;

/* What has been read: `at` is where the next record begins. */
typedef struct {
    const uint8_t *data;
    size_t size, at;
    size_t word_length, lemma_length;
    uint8_t word[LONGEST], lemma[LONGEST];
} Reader;

/* Reads a number; SIZE_MAX where the data ends within it, or where it is larger than any length. */
static size_t read_number(Reader *reader) {
    size_t value = 0;
    for (int bits = 0; bits < 28 && reader->at < reader->size; bits += 7) {
        const uint8_t byte = reader->data[reader->at++];
        value |= (size_t)(byte & 127) << bits;
        if (byte < 128) {
            return value;
        }
    }
    return SIZE_MAX;
}

/* Reads so many bytes behind the first `kept` of what is there; 0 where that is not possible. */
static int read_bytes(Reader *reader, size_t length, uint8_t *bytes, size_t kept) {
    if (length > reader->size - reader->at || kept > LONGEST || length > LONGEST - kept) {
        return 0;
    }
    memcpy(bytes + kept, reader->data + reader->at, length);
    reader->at += length;
    return 1;
}

/* Reads a record; 0 where there is none. */
static int read_record(Reader *reader) {
    const size_t shared = read_number(reader);
    size_t length = read_number(reader);
    if (shared > reader->word_length || !read_bytes(reader, length, reader->word, shared)
        || reader->at == reader->size) {
        return 0;
    }
    reader->word_length = shared + length;
    const size_t trim = reader->data[reader->at++];
    if (trim == SAME_LEMMA) {
        return 1;
    }
    const size_t kept = trim == WHOLE_LEMMA ? 0 : reader->word_length - trim;
    if (trim != WHOLE_LEMMA && trim > reader->word_length) {
        return 0;
    }
    length = read_number(reader);
    memcpy(reader->lemma, reader->word, kept);
    if (!read_bytes(reader, length, reader->lemma, kept)) {
        return 0;
    }
    reader->lemma_length = kept + length;
    return 1;
}

/* Less than, equal to or greater than 0 as the word that was read stands before, at or behind another. */
static int compare(const uint8_t *word, size_t length, const uint8_t *other, size_t other_length) {
    const int order = memcmp(word, other, length < other_length ? length : other_length);
    return order ? order : (length > other_length) - (length < other_length);
}

/* Bytes that grow as they are written. */
typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
} Buffer;

static int append(Buffer *buffer, const uint8_t *bytes, size_t size) {
    if (size == 0) {
        return 1;
    }
    if (size > buffer->capacity - buffer->size) {
        const size_t capacity = 2 * buffer->capacity + size;
        uint8_t *grown = PyMem_Realloc(buffer->bytes, capacity);
        if (grown == NULL) {
            return 0;
        }
        buffer->bytes = grown, buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    return 1;
}

/* Appends an entry per block, and the words and lemmas before the blocks; 0 where an error is set. */
static int index_records(Reader *reader, Buffer *entries, Buffer *texts) {
    const size_t count = read_number(reader);
    const size_t header = (count / RECORDS_PER_BLOCK + (count % RECORDS_PER_BLOCK != 0)) * sizeof(Entry);
    size_t records = 0;
    while (records < count && reader->at < reader->size) {
        if (records++ % RECORDS_PER_BLOCK == 0) {
            const Entry entry = {(uint32_t)reader->at, (uint32_t)(header + texts->size),
                                 (uint32_t)reader->word_length, (uint32_t)reader->lemma_length};
            if (!append(entries, (const uint8_t *)&entry, sizeof entry)
                || !append(texts, reader->word, reader->word_length)
                || !append(texts, reader->lemma, reader->lemma_length)) {
                PyErr_NoMemory();
                return 0;
            }
        }
        if (!read_record(reader)) {
            break;
        }
    }
    if (records != count || reader->at != reader->size) {
        PyErr_SetString(PyExc_ValueError, "the dictionary is damaged");
        return 0;
    }
    return 1;
}

static PyObject *py_index(PyObject *self, PyObject *dictionary) {
    (void)self;
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(dictionary, &data, &size) < 0) {
        return NULL;
    }
    if ((size_t)size < sizeof MAGIC + 2 || (uint64_t)size > UINT32_MAX / 8
        || memcmp(data, MAGIC, sizeof MAGIC) != 0) {
        PyErr_SetString(PyExc_ValueError, "no dictionary of a known format");
        return NULL;
    }
    Reader reader;
    reader.data = (const uint8_t *)data, reader.size = (size_t)size, reader.at = sizeof MAGIC + 1;
    reader.word_length = reader.lemma_length = 0;
    Buffer entries = {NULL, 0, 0}, texts = {NULL, 0, 0};
    PyObject *index = NULL;
    if (index_records(&reader, &entries, &texts)) {
        index = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(entries.size + texts.size));
    }
    if (index != NULL) {
        Buffer all = {(uint8_t *)PyBytes_AsString(index), 0, entries.size + texts.size};
        append(&all, entries.bytes, entries.size);
        append(&all, texts.bytes, texts.size);
    }
    PyMem_Free(entries.bytes);
    PyMem_Free(texts.bytes);
    return index;
}

/* Finds the block that may have a word, by the words before the blocks; 0 where none has, -1 for no index. */
static int find_block(const Py_buffer *index, const Py_buffer *word, size_t size, Entry *found) {
    const char *entries = index->buf;
    const size_t index_size = (size_t)index->len;
    Entry entry = {0, 0, 0, 0};
    if (index_size >= sizeof entry) {
        memcpy(&entry, entries, sizeof entry); /* the words and lemmas begin where the entries end */
    }
    size_t first = 0, last = entry.before / sizeof entry;
    if (entry.before > index_size) {
        return -1;
    }
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        memcpy(&entry, entries + middle * sizeof entry, sizeof entry);
        if (entry.word_length > LONGEST || entry.lemma_length > LONGEST || entry.record > size
            || entry.before > index_size
            || (size_t)entry.word_length + entry.lemma_length > index_size - entry.before) {
            return -1;
        }
        if (compare((const uint8_t *)entries + entry.before, entry.word_length, word->buf, (size_t)word->len)
            < 0) {
            *found = entry, first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first > 0;
}

static PyObject *find_lemma(const Py_buffer *dictionary, const Py_buffer *index, const Py_buffer *word) {
    Entry block;
    const int found = find_block(index, word, (size_t)dictionary->len, &block);
    if (found < 0) {
        PyErr_SetString(PyExc_ValueError, "no index of this dictionary");
        return NULL;
    }
    if (found == 0) {
        Py_RETURN_NONE;
    }
    Reader reader;
    reader.data = dictionary->buf, reader.size = (size_t)dictionary->len, reader.at = block.record;
    reader.word_length = block.word_length, reader.lemma_length = block.lemma_length;
    memcpy(reader.word, (const char *)index->buf + block.before, block.word_length);
    memcpy(reader.lemma, (const char *)index->buf + block.before + block.word_length, block.lemma_length);
    for (int record = 0; record < RECORDS_PER_BLOCK && read_record(&reader); record++) {
        const int order = compare(reader.word, reader.word_length, word->buf, (size_t)word->len);
        if (order == 0) {
            return PyBytes_FromStringAndSize((const char *)reader.lemma, (Py_ssize_t)reader.lemma_length);
        }
        if (order > 0) {
            break;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *py_lemma(PyObject *self, PyObject *arguments) {
    (void)self;
    Py_buffer dictionary, index, word;
    if (!PyArg_ParseTuple(arguments, "y*y*y*", &dictionary, &index, &word)) {
        return NULL;
    }
    PyObject *lemma = find_lemma(&dictionary, &index, &word);
    PyBuffer_Release(&dictionary);
    PyBuffer_Release(&index);
    PyBuffer_Release(&word);
    return lemma;
}

static PyMethodDef METHODS[] = {
    {"index", py_index, METH_O,
     "index(dictionary)\n--\n\n"
     "Return the index of a dictionary, for `lemma`; a dictionary that is damaged raises a ValueError."},
    {"lemma", py_lemma, METH_VARARGS,
     "lemma(dictionary, index, word)\n--\n\n"
     "Return the lemma of a word, or None; all are bytes or buffers of them."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_lemmas", "Lookups in packed dictionaries.", 0, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__lemmas(void) {
    return PyModule_Create(&MODULE);
}
