package http1

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// BenchmarkRequests is a client that asks again and again on one connection:
// here, and of net/http alone.
func BenchmarkRequests(b *testing.B) {
	h := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}
	b.Run("plain", func(b *testing.B) {
		ask(b, start(b, h, nil).address)
	})
	b.Run("nethttp", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(h)}
		go server.Serve(l)
		defer server.Close()
		ask(b, l.Addr().String())
	})
}

func ask(b *testing.B, address string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	const body = `{"id":1,"name":"name","tag":"tag"}`
	request := fmt.Appendf(nil, "POST /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	answer := make([]byte, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(answer); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse reads a request of a common size.
func BenchmarkParse(b *testing.B) {
	request := []byte("GET /repos/alice/go/issues?state=all&page=2 HTTP/1.1\r\nHost: code.example\r\nUser-Agent: go-github/v89.0.0\r\n" +
		"Accept: application/vnd.github+json\r\nAuthorization: Bearer 0123456789012345678901234567890123456789\r\n" +
		"X-Github-Api-Version: 2022-11-28\r\nAccept-Encoding: gzip\r\n\r\n")
	b.ReportAllocs()
	var r http.Request
	for b.Loop() {
		if _, v := parse(request, &r); v != plain {
			b.Fatal(v)
		}
	}
}
