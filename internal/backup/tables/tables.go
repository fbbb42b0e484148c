// Package tables is the one form in which the rows of a database travel: into a backup, out
// of it, and from one engine to the other.
//
// A stream is a line that names the form, a header in JSON (migrations, tables with their
// columns and last ids), the rows of each table, and the SHA-256 of all that. A row is the
// byte 1 and its values, each with a byte for its type; the byte 0 ends a table. The schema
// says which tables and columns there are, so a migration changes nothing here.
//
// The rows are read in one snapshot: a read transaction of SQLite, whose log keeps what
// writers add during the read, and REPEATABLE READ on PostgreSQL. Neither delays a writer, and
// the rows go into either engine, which SQLite's own copy of its pages would not.
package tables

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"arbor/internal/db"
)

const (
	form      = "arbor tables 1\n"
	maxHeader = 1 << 20 // bytes
	maxValue  = 1 << 30 // bytes; SQLite holds no longer one
)

// Header says what a stream holds.
type Header struct {
	Versions []db.Version
	Tables   []db.Table
}

// Types of values, each a byte before the value.
const (
	typeNull = iota
	typeInteger
	typeText
	typeBytes
	typeFalse
	typeTrue
	typeFloat
)

// Write writes the tables of a snapshot. newest is the latest time at which one of their
// rows was made or changed.
func Write(tx *db.Tx, to io.Writer) (newest db.Time, err error) {
	var h Header
	if h.Versions, err = db.Versions(tx); err != nil {
		return 0, err
	}
	if h.Tables, err = db.Tables(tx); err != nil {
		return 0, err
	}
	header, err := json.Marshal(h)
	if err != nil {
		return 0, err
	}
	sum := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(to, sum), 1<<18)
	w.WriteString(form)
	w.Write(binary.AppendUvarint(nil, uint64(len(header))))
	w.Write(header)
	var b []byte
	for _, t := range h.Tables {
		times := timesOf(&t)
		err := t.EachRow(tx, func(row []any) error {
			for _, i := range times {
				if at, ok := row[i].(int64); ok {
					newest = max(newest, db.Time(at))
				}
			}
			b = appendRow(b[:0], row)
			_, err := w.Write(b)
			return err
		})
		if err != nil {
			return 0, err
		}
		w.WriteByte(0)
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	_, err = to.Write(sum.Sum(nil))
	return newest, err
}

// timesOf are the columns that say when a row was made or changed.
func timesOf(t *db.Table) (list []int) {
	for i, c := range t.Columns {
		if slices.Contains([]string{"created_at", "updated_at", "pushed_at"}, c.Name) {
			list = append(list, i)
		}
	}
	return list
}

func appendRow(b []byte, row []any) []byte {
	b = append(b, 1)
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b = append(b, typeNull)
		case int64:
			b = binary.AppendVarint(append(b, typeInteger), v)
		case string:
			b = binary.AppendUvarint(append(b, typeText), uint64(len(v)))
			b = append(b, v...)
		case []byte:
			b = binary.AppendUvarint(append(b, typeBytes), uint64(len(v)))
			b = append(b, v...)
		case bool:
			if v {
				b = append(b, typeTrue)
			} else {
				b = append(b, typeFalse)
			}
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, typeFloat), math.Float64bits(v))
		}
	}
	return b
}

// ErrDamaged says that a stream is cut short or altered.
var ErrDamaged = errors.New("the tables are cut short or altered")

// Reader reads a stream, table after table.
type Reader struct {
	Header Header
	in     *bufio.Reader
	sum    *sumReader
	table  int // the next one of Header.Tables
	open   bool
	row    []any
}

// sumReader keeps the digest of what was read through it by the consumer of a buffer.
type sumReader struct {
	from io.Reader
	sum  hash.Hash
	last []byte // the latest 32 bytes, which may be the digest itself
}

func (s *sumReader) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.last = append(s.last, p[:n]...)
	if extra := len(s.last) - sha256.Size; extra > 0 {
		s.sum.Write(s.last[:extra])
		s.last = append(s.last[:0], s.last[extra:]...)
	}
	return n, err
}

// NewReader reads the header of a stream.
func NewReader(from io.Reader) (*Reader, error) {
	s := &sumReader{from: from, sum: sha256.New()}
	r := &Reader{in: bufio.NewReaderSize(s, 1<<18), sum: s}
	start := make([]byte, len(form))
	if _, err := io.ReadFull(r.in, start); err != nil {
		return nil, damaged(err)
	}
	if string(start) != form {
		return nil, fmt.Errorf("%w: they are from another version, or not tables of Arbor", ErrDamaged)
	}
	text, err := r.bytes(maxHeader)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.Header); err != nil {
		return nil, damaged(err)
	}
	return r, nil
}

// Next moves to the next table, past rows that were not read. After the last table, where
// the digest is checked, it gives nil. It serves db.Load.
func (r *Reader) Next() (*db.TableRows, error) {
	for r.open {
		if _, err := r.next(); err != nil {
			return nil, err
		}
	}
	if r.table == len(r.Header.Tables) {
		return nil, r.finish()
	}
	r.open = true
	r.table++
	t := r.Header.Tables[r.table-1]
	r.row = make([]any, len(t.Columns))
	return &db.TableRows{Table: t, Next: r.next}, nil
}

// finish checks that only the right digest follows.
func (r *Reader) finish() error {
	found := make([]byte, sha256.Size)
	if _, err := io.ReadFull(r.in, found); err != nil {
		return damaged(err)
	}
	if _, err := r.in.ReadByte(); err != io.EOF {
		return ErrDamaged
	}
	if !bytes.Equal(found, r.sum.sum.Sum(nil)) {
		return ErrDamaged
	}
	return nil
}

// next reads a row: nil after the last one.
func (r *Reader) next() ([]any, error) {
	if !r.open {
		return nil, nil
	}
	more, err := r.in.ReadByte()
	switch {
	case err != nil:
		return nil, damaged(err)
	case more == 0:
		r.open = false
		return nil, nil
	case more != 1:
		return nil, ErrDamaged
	}
	columns := r.Header.Tables[r.table-1].Columns
	for i := range r.row {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		if !columns[i].Kind.Has(v) {
			return nil, ErrDamaged
		}
		r.row[i] = v
	}
	return r.row, nil
}

func (r *Reader) value() (any, error) {
	kind, err := r.in.ReadByte()
	if err != nil {
		return nil, damaged(err)
	}
	switch kind {
	case typeNull:
		return nil, nil
	case typeInteger:
		n, err := binary.ReadVarint(r.in)
		return n, damaged(err)
	case typeText:
		text, err := r.bytes(maxValue)
		if err == nil && !utf8.Valid(text) {
			err = ErrDamaged
		}
		return string(text), err
	case typeBytes:
		return r.bytes(maxValue)
	case typeFalse, typeTrue:
		return kind == typeTrue, nil
	case typeFloat:
		var b [8]byte
		_, err := io.ReadFull(r.in, b[:])
		return math.Float64frombits(binary.BigEndian.Uint64(b[:])), damaged(err)
	}
	return nil, ErrDamaged
}

// bytes reads a length and as many bytes. A false length takes no memory.
func (r *Reader) bytes(most uint64) ([]byte, error) {
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		return nil, damaged(err)
	}
	if n > most {
		return nil, ErrDamaged
	}
	if n <= 64<<10 {
		b := make([]byte, n)
		_, err := io.ReadFull(r.in, b)
		return b, damaged(err)
	}
	var b bytes.Buffer
	_, err = io.CopyN(&b, r.in, int64(n))
	return b.Bytes(), damaged(err)
}

// damaged is ErrDamaged for an error in reading, with what went wrong.
func damaged(err error) error {
	if err == nil || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
