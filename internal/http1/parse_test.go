package http1

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// plainRequests stand for what clients send.
var plainRequests = []string{
	"GET / HTTP/1.1\r\nHost: arbor\r\n\r\n",
	"GET /repos/a/b/issues?state=all&labels=a%20b HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: curl/8\r\nAccept: */*\r\n\r\n",
	"POST /plants HTTP/1.1\r\nhost: [::1]:80\r\nauthorization: Bearer x\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{\"id\":1}",
	"DELETE //a/../b/%2e%2E/c;d?x HTTP/1.1\r\nHost: h\r\nAccept: a\r\nX-odd: 1\r\nx-ODD:\t2 \t\r\nAccept: b\r\n\r\n",
	"PUT /user/starred/a/b HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"HEAD /? HTTP/1.1\r\nHost: h\r\nX-Empty:\r\n\r\n",
	"OPTIONS /a:b@c,d HTTP/1.1\r\nHost: h_o.s-t\r\nCookie: a=b; c=d\r\n\r\n",
	"PATCH /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n\r\n\r",
	"GET ///x/?a?b HTTP/1.1\r\nHost: h\r\nX-Github-Api-Version: 2022-11-28\r\n\r\n",
}

// notPlainRequests are requests that another rule of HTTP is about, or none.
var notPlainRequests = []string{
	"GET / HTTP/1.0\r\nHost: h\r\n\r\n",
	"GET / HTTP/1.1\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nHost:\r\n\r\n",
	"GET / HTTP/1.1\r\nHost:\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
	"GET / HTTP/1.1\r\nHost : h\r\n\r\n",
	"GET / HTTP/1.1\r\n Host: h\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n folded\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nX(: a\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nX: a\x00b\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\nX: a\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nX: \xc3\xa4\r\n\r\n",
	"GET / HTTP/1.1\nHost: h\r\n\r\n",
	"GET / HTTP/1.1\nHost: h\n\n",
	"GET / HTTP/1.1\r\nHost: h\n\n",
	"GET / HTTP/1.1\r\nHost: h\n\r\n",
	"GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
	"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
	"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n",
	"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",
	"GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
	"CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n",
	"TRACE / HTTP/1.1\r\nHost: h\r\n\r\n",
	"get / HTTP/1.1\r\nHost: h\r\n\r\n",
	"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"\x16\x03\x01\x02\x00\x01",
	"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\nx",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\nx",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\nx",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nx",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\nx",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16384\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\nx",
	"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nTrailer: x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("X: y\r\n", maxLines) + "\r\n",
}

func TestPlain(t *testing.T) {
	for _, text := range plainRequests {
		if _, v := parse([]byte(text), &http.Request{}); v != plain {
			t.Errorf("not plain: %q", text)
		}
		checkParse(t, []byte(text))
	}
}

func TestNotPlain(t *testing.T) {
	for _, text := range notPlainRequests {
		if _, v := parse([]byte(text), &http.Request{}); v != notPlain {
			t.Errorf("plain: %q", text)
		}
	}
}

// Whatever is read here, net/http reads the same from the same bytes.
func FuzzParse(f *testing.F) {
	for _, text := range append(plainRequests, notPlainRequests...) {
		f.Add([]byte(text))
	}
	f.Fuzz(checkParse)
}

func checkParse(t *testing.T, buf []byte) {
	r := &http.Request{}
	size, v := parse(buf, r)
	if v != plain {
		return
	}
	input := bufio.NewReader(bytes.NewReader(buf))
	want, err := http.ReadRequest(input)
	if err != nil {
		t.Fatalf("net/http refuses what is plain: %v: %q", err, buf)
	}
	body, _ := io.ReadAll(r.Body)
	wantBody, err := io.ReadAll(want.Body)
	if err != nil || !bytes.Equal(body, wantBody) {
		t.Errorf("body %q, net/http reads %q, %v", body, wantBody, err)
	}
	rest, _ := io.ReadAll(input)
	if !bytes.Equal(rest, buf[size:]) {
		t.Errorf("left %q, net/http leaves %q", buf[size:], rest)
	}
	if want.Close || len(want.TransferEncoding) > 0 || len(want.Trailer) > 0 {
		t.Errorf("net/http would not go on as with a plain request: %+v", want)
	}
	delete(want.Header, "Host") // as its server does
	for _, c := range []struct{ got, want any }{
		{r.Method, want.Method}, {r.URL, want.URL}, {r.RequestURI, want.RequestURI}, {r.Host, want.Host}, {r.Proto, want.Proto},
		{r.ProtoMajor, want.ProtoMajor}, {r.ProtoMinor, want.ProtoMinor},
		{r.Header, want.Header}, {r.ContentLength, want.ContentLength}, {r.Body == http.NoBody, want.Body == http.NoBody},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%#v, net/http reads %#v: %q", c.got, c.want, buf)
		}
	}
	for k := range size {
		if _, v := parse(buf[:k], &http.Request{}); v != incomplete {
			t.Fatalf("%d of %d bytes are %v", k, size, v)
		}
	}
}

// A body that drips in does not have its head read again with each drop.
func TestDrip(t *testing.T) {
	ours, theirs := net.Pipe() // without a buffer: each write is a read
	defer ours.Close()
	head := "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\nX-Large: " + strings.Repeat("y", 8000) + "\r\n\r\n"
	go func() {
		io.WriteString(theirs, head)
		for range 5000 {
			io.WriteString(theirs, "x")
		}
	}()
	c := newConn(New(&http.Server{}), ours)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if size := c.next(); size != len(head)+5000 {
		t.Errorf("%d bytes of %d", size, len(head)+5000)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes of memory for a request of %d", n, len(head)+5000)
	}
}
