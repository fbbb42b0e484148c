package durable

import "os"

// maxBehind is how many bytes of a Writer are handed to the disk at one time.
const maxBehind = 8 << 20

// Writer writes a new file from its beginning, and starts writing it to the disk at once. So the
// file's Sync, which the caller still has to call, finds little left to do, and what others sync on the same
// disk does not wait for all of it. At most two pieces of 8 MiB are behind: a disk that is slower than the
// caller slows it down.
type Writer struct {
	file    *os.File
	written int64 // bytes so far
	begun   int64 // bytes whose writing to the disk has started
}

// NewWriter writes a file that is empty.
func NewWriter(f *os.File) *Writer { return &Writer{file: f} }

// Write is io.Writer's. Its errors may be those of bytes that were written before.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	if w.written += int64(n); err != nil || w.written-w.begun < maxBehind {
		return n, err
	}
	err = flush(w.file, max(0, w.begun-maxBehind), w.begun, w.written)
	w.begun = w.written
	return n, err
}
