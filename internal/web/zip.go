package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"runtime"
	"sync"
)

// Compression shortens a text by what it repeats, and anybody on the way sees how long an
// answer is. Who can have a text of his own put beside a secret of somebody else, again and
// again, guesses the secret by the shortest answer (BREACH). Lists of several repositories
// are such answers: a stranger's issues stand there beside private ones.
//
// So only answers to requests without credentials are compressed. They hold nothing that an
// eavesdropper could not ask for.

// minZipped is the size in bytes of the smallest answer that is worth compressing.
const minZipped = 1 << 10

// MayZip allows the answers to this request to be compressed. It is called for requests of
// the API itself: a page reads the answers of the API in between.
func (i *Info) MayZip(r *http.Request) {
	i.zip = len(r.Header["Authorization"]) == 0 && len(r.Header["Cookie"]) == 0
}

// zipBody compresses a body if the client asks for that and may have it.
func zipBody(r *http.Request, status int, body []byte) (zipped []byte, ok bool) {
	asked := r.Header["Accept-Encoding"]
	if len(asked) == 0 || status != http.StatusOK || len(body) < minZipped {
		return body, false
	}
	if !From(r.Context()).zip || !AcceptsGzip(asked) {
		return body, false
	}
	zippers := zippersOf()
	z := <-zippers
	defer func() { zippers <- z }()
	var b bytes.Buffer
	b.Grow(len(body) / 4)
	z.Reset(&b)
	if _, err := z.Write(body); err != nil {
		return body, false
	}
	if err := z.Close(); err != nil {
		return body, false
	}
	return fitted(b.Bytes()), true
}

// zippersOf has a compressor for each processor. Each takes most of a megabyte, and none
// waits for a client.
var zippersOf = sync.OnceValue(func() chan *gzip.Writer {
	n := runtime.GOMAXPROCS(0)
	zippers := make(chan *gzip.Writer, n)
	for range n {
		z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
		zippers <- z
	}
	return zippers
})
