package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"arbor/internal/admission"
)

// MaxHeld is the size in bytes of the largest answer that is held whole: room for a
// file of a megabyte in Base64.
const MaxHeld = 3 << 19

// sentAtOnce is the chunk size of a long response in bytes.
const sentAtOnce = 128 << 10

// Output is the body of a JSON response being rendered. A small one is buffered completely, gets an ETag,
// and may be cached. One that exceeds MaxHeld, or what Keep allows, is sent while it is rendered: it is not
// cached, and has no ETag (decision 27) unless the renderer knew one before. So a response of any length needs
// the memory of MaxHeld and its largest item. That is reserved before it is sent; while it is rendered, the
// request's turn limits it.
type Output struct {
	Buf  []byte // renderers append to it, and call Next between two items
	ETag string // with its quotes; empty: derived from the body

	Passing bool // incomplete: a later request may get more, so the answer is not kept

	w      http.ResponseWriter
	r      *http.Request
	status int
	begun  bool // the header is out

	begin func() // called before a large answer begins to go out; may be nil
	keep  int    // more than MaxHeld: what is held whole of an answer that is kept

	reserved int64
	release  []func()
}

// Render renders the body of an answer into an Output. It may set the headers
// Link and Last-Modified before the first item.
type Render func(out *Output) error

// errHead ends the rendering of a large answer to HEAD, which has no body.
var errHead = errors.New("web: the answer has no body")

// Unsent returns an output that is not sent, for texts that are rendered for something else.
func Unsent(ctx context.Context) *Output {
	return &Output{r: (&http.Request{Method: http.MethodGet}).WithContext(ctx)}
}

// Answer renders an answer and sends it.
func Answer(w http.ResponseWriter, r *http.Request, status int, render Render) error {
	return (&Output{w: w, r: r, status: status}).run(render)
}

// answerPooled is Answer with a pooled buffer, for a response that is not cached. After an error the buffer
// is not reused: the HTTP server may still read what a failed write left to it.
func answerPooled(w http.ResponseWriter, r *http.Request, status int, render Render) error {
	buffer := buffers.Get().(*[]byte)
	out := &Output{w: w, r: r, status: status, Buf: (*buffer)[:0]}
	err := out.run(func(out *Output) error {
		err := render(out)
		if err != nil || out.begun || cap(out.Buf) <= max(largeBuffer, 2*len(out.Buf)) {
			return err
		}
		// A slow client keeps no large buffer for a small answer.
		body := bytes.Clone(out.Buf)
		giveBack(buffer, out.Buf)
		buffer, out.Buf = nil, body
		return nil
	})
	if err == nil && buffer != nil {
		giveBack(buffer, out.Buf)
	}
	return err
}

// buffers are the buffers of responses that are not cached.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// largeBuffer is the size in bytes of a buffer that is worth exchanging, for an answer
// of less than half of it.
const largeBuffer = 64 << 10

func giveBack(buffer *[]byte, b []byte) {
	if cap(b) <= MaxHeld {
		*buffer = b
		buffers.Put(buffer)
	}
}

// run renders and sends the answer.
func (o *Output) run(render Render) error {
	defer o.free()
	if err := render(o); err != nil {
		if errors.Is(err, errHead) {
			return nil
		}
		return err
	}
	return o.end()
}

func (o *Output) free() {
	for _, release := range o.release {
		release()
	}
	o.reserved, o.release = 0, nil
}

// Reserve reserves memory in total, in addition to MaxHeld, until the response has been sent. It is called
// before the memory is allocated. Errors: those of admission.Memory.
func (o *Output) Reserve(bytes int64) error {
	if bytes <= o.reserved {
		return nil
	}
	release, err := admission.Memory(o.r.Context(), bytes-o.reserved)
	if err != nil {
		return err
	}
	o.reserved, o.release = bytes, append(o.release, release)
	return nil
}

// Grow ensures capacity for so many more bytes.
func (o *Output) Grow(bytes int) {
	if cap(o.Buf) == 0 {
		o.Buf = make([]byte, 0, bytes)
	}
}

// Keep holds an answer of so many bytes whole if it is to be kept. What goes beyond MaxHeld is reserved.
func (o *Output) Keep(bytes int) {
	if o.begin != nil {
		o.keep = bytes
	}
}

// Headers is an answer that has a header: an http.ResponseWriter or an Output.
type Headers interface{ Header() http.Header }

// Header is that of the answer. It is sent with the first item.
func (o *Output) Header() http.Header { return o.w.Header() }

// Context is the request's context.
func (o *Output) Context() context.Context { return o.r.Context() }

// Begun reports that a part of the answer is out: Buf does not hold it whole.
func (o *Output) Begun() bool { return o.begun }

// Next is called between two items. It sends the rendered part of a large answer.
func (o *Output) Next() error {
	if len(o.Buf) < sentAtOnce || !o.begun && len(o.Buf) <= MaxHeld {
		return nil
	}
	if !o.begun && len(o.Buf) <= o.keep {
		err := o.Reserve(2 * int64(o.keep))
		if err == nil && cap(o.Buf)-len(o.Buf) < sentAtOnce {
			o.Buf = slices.Grow(o.Buf, len(o.Buf)) // append alone grows it by a quarter
		}
		return err
	}
	if !o.begun {
		if o.begin != nil {
			o.begin()
		}
		if err := hold(o.r, cap(o.Buf)); err != nil {
			return err
		}
		o.begun = true
		h := o.w.Header()
		setJSON(h)
		delete(h, "Etag")
		if o.ETag != "" {
			h["Etag"] = []string{o.ETag}
		}
		o.w.WriteHeader(o.status)
		if o.r.Method == http.MethodHead {
			return errHead
		}
	}
	_, err := o.w.Write(o.Buf)
	if o.Buf = o.Buf[:0]; cap(o.Buf) > 2*MaxHeld {
		o.Buf = make([]byte, 0, sentAtOnce+sentAtOnce/8)
	}
	return err
}

// end sends the rest.
func (o *Output) end() error {
	if !o.begun && len(o.Buf) > max(MaxHeld, o.keep) {
		if err := o.Next(); err != nil && !errors.Is(err, errHead) {
			return err
		}
		return nil
	}
	if o.begun {
		_, err := o.w.Write(o.Buf)
		return err
	}
	return Bytes(o.w, o.r, o.status, o.Buf, o.ETag)
}

// JSON renders a value. The items of a slice are items of the answer.
func (o *Output) JSON(v any) error {
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice || list.IsNil() || list.Type().Elem().Kind() == reflect.Uint8 {
		return o.value(v)
	}
	return o.List(list.Len(), func(n int) (any, error) { return list.Index(n).Interface(), nil })
}

// List renders an array of n items.
func (o *Output) List(n int, item func(n int) (any, error)) error {
	return o.Array(n, func(n int) error {
		v, err := item(n)
		if err != nil {
			return err
		}
		return o.value(v)
	})
}

// Items renders an array of n items or, alone, the only one.
func (o *Output) Items(n int, alone bool, item func(n int) (any, error)) error {
	if !alone {
		return o.List(n, item)
	}
	v, err := item(0)
	if err != nil {
		return err
	}
	return o.value(v)
}

// Array renders an array of n items, each appended to Buf by item.
func (o *Output) Array(n int, item func(n int) error) error {
	o.Buf = append(o.Buf, '[')
	for i := range n {
		if i > 0 {
			o.Buf = append(o.Buf, ',')
		}
		err := item(i)
		if err == nil {
			err = o.Next()
		}
		if err != nil {
			return err
		}
	}
	o.Buf = append(o.Buf, ']')
	return nil
}

// Item renders the n-th item of a list whose brackets the caller writes.
func (o *Output) Item(n int, v any) error {
	if n > 0 {
		o.Buf = append(o.Buf, ',')
	}
	if err := o.value(v); err != nil {
		return err
	}
	return o.Next()
}

// Open renders an object and leaves it open for members that Member adds. Close
// closes it.
func (o *Output) Open(v any) error {
	if err := o.value(v); err != nil {
		return err
	}
	o.Buf = o.Buf[:len(o.Buf)-1]
	return nil
}

// Member begins a member of an object that is open and has others.
func (o *Output) Member(name string) {
	o.Buf = append(strconv.AppendQuote(append(o.Buf, ','), name), ':')
}

// Close closes the object that Open opened.
func (o *Output) Close() { o.Buf = append(o.Buf, '}') }

// value renders a value as JSON does in answers: without escapes that only HTML
// would need.
func (o *Output) value(v any) error {
	enc := json.NewEncoder((*appender)(&o.Buf))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	o.Buf = o.Buf[:len(o.Buf)-1] // a newline
	return nil
}

type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}
