package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"runtime"
	"strings"
	"sync"
)

// Compression shortens a text by what it repeats, and anybody on the way sees how long an answer is. Who can have
// a text of his own put next to a secret of somebody else, again and again, guesses the secret by the shortest
// answer (BREACH). That takes a browser which sends the credentials by itself, as often as another page or a picture
// in a text makes it. So compressed are:
//
//   - files that pages load, which hold nothing of anybody;
//   - answers and pages to nobody in particular, which an eavesdropper could ask for as well;
//   - answers to a token in Bearer or token form, which no browser sends by itself. Of a program that polls, an
//     eavesdropper sees lengths at the program's own pace, which is too slow to guess by;
//   - pages to somebody with a session, where the browser says that it goes there by a link of this site or by the
//     person's own doing. A page shows private texts next to what its address says (a search and its words), and the
//     cookie, which is SameSite=Lax, comes along when another site sends the browser here. Nobody clicks on a
//     link for each guess, and a picture that a text loads by itself does not navigate.
//
// Not compressed are answers with Basic credentials, which browsers keep and send by themselves, answers of the API
// to who also sends a cookie, answers to forms, and pages that show a secret once.

// minZipped is the size in bytes of the smallest answer that is worth compressing.
const minZipped = 1 << 10

// MayZip allows the answers to this request to be compressed. It is called for requests of
// the API itself: a page reads the answers of the API in between.
func (i *Info) MayZip(r *http.Request) {
	i.zip = len(r.Header["Cookie"]) == 0 && sentByProgram(r)
}

// sentByProgram reports a request without credentials that a browser sends by itself.
func sentByProgram(r *http.Request) bool {
	for _, value := range r.Header["Authorization"] {
		scheme, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		if !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token") {
			return false
		}
	}
	return true
}

// MayZipPage allows compressing a page: for anonymous users, and for a user who navigated there.
func (i *Info) MayZipPage(r *http.Request, signedIn bool) {
	i.zip = sentByProgram(r) && (!signedIn || len(r.Header["Cookie"]) == 0 || wentThere(r))
}

// wentThere reports that a browser shows an address to the person who chose it, on this site or without any.
// Other sites cannot write these headers.
func wentThere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "same-origin" || site == "none") && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// Zip compresses the body of a 200, sets the headers and reserves the memory. It returns the body unchanged
// if the client does not accept that or MayZip does not allow it.
func Zip(w http.ResponseWriter, r *http.Request, body []byte) ([]byte, error) {
	body, zipped := zipBody(r, http.StatusOK, body)
	if !zipped {
		return body, nil
	}
	w.Header()["Content-Encoding"] = gzipCoding
	return body, hold(r, cap(body))
}

// zipBody compresses a body if the client accepts that and it is allowed.
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

// zippersOf holds a compressor for each processor. Each uses almost a megabyte, and none
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
