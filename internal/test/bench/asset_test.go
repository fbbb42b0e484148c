//go:build long

package bench

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"arbor/internal/test/testkit"
)

// Assets are measured with files of this size in bytes, and so many pairs.
const (
	assetSize  = 256 << 20
	assetPairs = 9
)

// assets compares the upload and the download of an asset with a copy of the same file on the same disk,
// which is synced. The client shares the processors with the server, and a copy needs one.
func (s *suite) assets(b *testing.B) {
	a := s.start(b)
	a.create(b, "tools")
	c := connect(b, a.url)
	const at = "/repos/alice/tools/releases"
	if _, err := c.must(request("POST", at, a.token, `{"tag_name":"v1","draft":true}`)); err != nil {
		b.Fatal(err)
	}
	file := randomFile(b, filepath.Join(b.TempDir(), "asset"), assetSize)
	head := fmt.Appendf(nil,
		"POST %s/1/assets?name=asset HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
			"Content-Length: %d\r\n\r\n", at, a.token, assetSize)
	made := 0
	remove := func() {
		if status, _, err := c.do(request("DELETE", fmt.Sprint(at, "/assets/", made), a.token,
			"")); err != nil || status != 204 {
			b.Fatal(status, err)
		}
	}
	upload := func() float64 {
		if made > 0 {
			remove()
		}
		made++
		return timed(func() {
			testkit.NoError(b, c.upload(head, file))
		})
	}
	download := func() float64 {
		get := fmt.Appendf(nil, "GET %s/assets/%d HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
			"Accept: application/octet-stream\r\n\r\n", at, made, a.token)
		return timed(func() {
			if n, err := c.must(get); err != nil || n != assetSize {
				b.Fatal(n, err)
			}
		})
	}
	disk := func() float64 { return copySynced(b, file) }
	const megabytes = assetSize / 1e6
	s.part(b, "upload", func(b *testing.B) {
		ratio, x, y := pairs(assetPairs, disk, upload)
		s.atLeast(b, ratio, 0.8, "x-of-disk", rates(megabytes/y, megabytes/x)+" in MB")
	})
	s.part(b, "download", func(b *testing.B) {
		ratio, x, y := pairs(assetPairs, disk, download)
		s.atLeast(b, ratio, 0.8, "x-of-disk", rates(megabytes/y, megabytes/x)+" in MB")
	})
	s.part(b, "memory", func(b *testing.B) {
		server, _ := a.peak(b, func() { upload(); download() })
		s.atMost(b, server, 64, "MiB", "the server's peak")
	})
}

// randomFile creates a file of random bytes that is on the disk.
func randomFile(b *testing.B, path string, size int64) *os.File {
	b.Helper()
	f, err := os.Create(path)
	if err == nil {
		b.Cleanup(func() { f.Close() })
		_, err = io.CopyN(f, rand.NewChaCha8([32]byte{1}), size)
	}
	if err = errors.Join(err, f.Sync()); err != nil {
		b.Fatal(err)
	}
	return f
}

// copySynced copies a file and syncs the copy. It gives how long that takes, in seconds.
func copySynced(b *testing.B, file *os.File) float64 {
	b.Helper()
	to, err := os.Create(file.Name() + ".copy")
	testkit.NoError(b, err)
	defer os.Remove(to.Name())
	defer to.Close()
	return timed(func() {
		_, err := file.Seek(0, io.SeekStart)
		if err == nil {
			_, err = io.Copy(to, file)
		}
		if err = errors.Join(err, to.Sync()); err != nil {
			b.Fatal(err)
		}
	})
}

// upload sends the head of a request and a file as its body, and reads the answer, which has to be 201.
func (c *client) upload(head []byte, file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := c.conn.Write(head); err != nil {
		return err
	}
	if _, err := io.Copy(c.conn, file); err != nil { // sendfile
		return err
	}
	status, _, err := c.answer()
	if err == nil && status != 201 {
		err = fmt.Errorf("%w: %d", errStatus, status)
	}
	return err
}
