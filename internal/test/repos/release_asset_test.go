package repos_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/release"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

var bytesOf = map[string]string{"Accept": "application/octet-stream"}

// What a maintainer uploads is what everybody gets, byte by byte, and no browser runs it.
func TestAssets(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		made(t, s, "POST "+releases, `{"tag_name": "v1/x"}`)
		const page = "<script>alert(1)</script>"
		tag := `"` + digest(page) + `"`
		asset := `{"url": "{base}` + releases +
			`/assets/1", "id": 1, "node_id": "$any", "name": "a.page.html", "label": "A page", "state": "uploaded",
			"content_type": "text/html; charset=utf-8", "size": 25, "digest": "sha256:` + digest(page) + `", "uploader": {"login": "will"},
			"created_at": "$any", "updated_at": "$any", "browser_download_url": "{base}/alice/garden/releases/download/v1/x/a.page.html"}`
		sent := map[string]string{"Content-Type": "application/octet-stream",
			"X-Content-Type-Options": "nosniff",
			"Content-Disposition":    `attachment; filename="a.page.html"`, "Etag": tag, "Content-Length": "25", "Accept-Ranges": "bytes",
			"Vary": "Accept, Accept-Encoding, Authorization"}
		download := maps.Clone(sent) // where a browser's session counts too
		download["Vary"] = "Accept, Accept-Encoding, Authorization, Cookie"
		with := func(name, value string) map[string]string {
			return map[string]string{"Accept": "application/octet-stream", name: value}
		}
		s.Run(t, []apitest.Case{
			{Name: "upload", Do: "POST " + releases + "/1/assets?name=a+page.html&label=A%20page", As: "will",
				Send: page, Status: 201, Want: asset,
				Headers: map[string]string{"Content-Type": "text/html; charset=utf-8"},
				Has:     map[string]string{"Location": "{base}" + releases + "/assets/1"}},
			{Name: "where go-github looks for it", Do: "POST /api/uploads" + releases + "/1/assets?name=b",
				As: "will", Send: "x", Status: 201,
				Want: `{"url": "{base}/api/v3` + releases +
					`/assets/2", "content_type": "application/octet-stream", "label": null}`},
			{Name: "nothing else is there", Do: "GET /api/uploads/user", As: "will", Status: 404},
			{Do: "GET " + releases + "/1", Status: 200, Want: `{"assets": [` + asset + `, {"id": 2}]}`},
			{Do: "GET " + releases + "/1/assets", Status: 200, Want: `[` + asset + `, {"id": 2}]`},
			{Do: "GET " + releases + "/1/assets?per_page=1&page=2", Status: 200, Want: `[{"id": 2}]`},
			{Do: "GET " + releases + "/assets/1", Status: 200, Want: asset},
			{Name: "its bytes", Do: "GET " + releases + "/assets/1", Headers: bytesOf, Status: 200,
				Body: page, Has: sent},
			{Name: "by its name", Do: "GET /alice/garden/releases/download/v1/x/a.page.html", Status: 200,
				Body: page, Has: download},
			{Name: "as a browser asks", Do: "GET /alice/garden/releases/download/v1/x/a.page.html",
				Headers: map[string]string{"Accept": "text/html,*/*;q=0.8"}, Status: 200, Has: download},
			{Name: "of the latest", Do: "GET /alice/garden/releases/latest/download/a.page.html", Status: 302,
				Has: map[string]string{"Location": "{base}/alice/garden/releases/download/v1/x/a.page.html"}},
			{Name: "its head", Do: "HEAD " + releases + "/assets/1", Headers: bytesOf, Status: 200,
				Body: "-", Has: sent},
			{Name: "a range", Do: "GET " + releases + "/assets/1", Headers: with("Range", "bytes=1-6"),
				Status: 206, Body: "script", Has: map[string]string{"Content-Range": "bytes 1-6/25"}},
			{Name: "the end", Do: "GET " + releases + "/assets/1", Headers: with("Range", "bytes=-1"),
				Status: 206, Body: ">"},
			{Name: "several ranges", Do: "GET " + releases + "/assets/1",
				Headers: with("Range", "bytes=0-1,3-4"), Status: 200, Body: page},
			{Name: "past the end", Do: "GET " + releases + "/assets/1", Headers: with("Range", "bytes=25-"),
				Status: 416},
			{Name: "known", Do: "GET " + releases + "/assets/1", Headers: with("If-None-Match", tag),
				Status: 304, Body: "-"},
			{Name: "another one is known", Do: "GET " + releases + "/assets/1",
				Headers: with("If-None-Match", `"x"`), Status: 200},
			{Name: "four whole downloads", Do: "GET " + releases + "/assets/1", Status: 200,
				Want: `{"download_count": 4}`},
			{Name: "no media type", Do: "GET " + releases + "/assets/1",
				Headers: map[string]string{"Accept": "text/html"}, Status: 415},
			{Name: "any media type, where it is no address of the API",
				Do:      "GET /alice/garden/releases/download/v1/x/a.page.html",
				Headers: map[string]string{"Accept": "text/plain"}, Status: 200, Body: page, Has: download},
			{Name: "so of the latest", Do: "GET /alice/garden/releases/latest/download/a.page.html",
				Headers: map[string]string{"Accept": "application/zip"}, Status: 302},
			{Name: "rename", Do: "PATCH " + releases + "/assets/1", As: "will",
				Send: `{"name": "c", "label": ""}`, Status: 200, Want: `{"name": "c", "label": null}`},
			{Name: "not to what is there", Do: "PATCH " + releases + "/assets/1", As: "will",
				Send: `{"name": "b"}`, Status: 422,
				Want: `{"errors": [{"resource": "ReleaseAsset", "field": "name", "code": "already_exists"}]}`},
			{Name: "a path", Do: "PATCH " + releases + "/assets/1", As: "will", Send: `{"name": "a/b"}`,
				Status: 422},
			{Name: "no name", Do: "PATCH " + releases + "/assets/1", As: "will", Send: `{"name": ""}`,
				Status: 422},
			{Name: "by a reader", Do: "PATCH " + releases + "/assets/1", As: "rae", Send: `{"name": "d"}`,
				Status: 403},
			{Do: "DELETE " + releases + "/assets/1", As: "rae", Status: 403},
			{Do: "DELETE " + releases + "/assets/1", As: "will", Status: 204},
			{Do: "GET " + releases + "/assets/1", Status: 404},
			{Do: "GET /alice/garden/releases/download/v1/x/c", Status: 404},
			{Do: "GET /alice/garden/releases/download/c", Status: 404},
			{Do: "GET /alice/garden/releases/latest/download/c", Status: 404},
		})
		leaves(t, s, 1)
		s.Check(t, apitest.Case{Do: "DELETE " + releases + "/1", As: "will", Status: 204})
		leaves(t, s, 0)
	})
}

// Uploads that cannot be are refused, and leave nothing on the disk.
func TestBadUploads(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		made(t, s, "POST "+releases, `{"tag_name": "v1"}`)
		to := "POST " + releases + "/1/assets"
		wrong := func(field, code string) string {
			return `{"errors": [{"resource": "ReleaseAsset", "field": "` + field + `", "code": "` +
				code + `"}]}`
		}
		s.Run(t, []apitest.Case{
			{Name: "no name", Do: to, As: "will", Send: "x", Status: 422,
				Want: wrong("name", "missing_field")},
			{Name: "a path", Do: to + "?name=..%2F..%2Fx", As: "will", Send: "x", Status: 422,
				Want: wrong("name", "invalid")},
			{Name: "a path of Windows", Do: to + "?name=a%5Cb", As: "will", Send: "x", Status: 422,
				Want: wrong("name", "invalid")},
			{Name: "NUL", Do: to + "?name=a%00b", As: "will", Send: "x", Status: 422,
				Want: wrong("name", "invalid")},
			{Name: "a line", Do: to + "?name=a%0d%0aX-Y:z", As: "will", Send: "x", Status: 422,
				Want: wrong("name", "invalid")},
			{Name: "no text", Do: to + "?name=%ff", As: "will", Send: "x", Status: 422,
				Want: wrong("name", "invalid")},
			{Name: "long", Do: to + "?name=" + strings.Repeat("a", 256), As: "will", Send: "x", Status: 422,
				Want: wrong("name", "invalid")},
			{Name: "a long label", Do: to + "?name=a&label=" + strings.Repeat("a", 256), As: "will",
				Send: "x", Status: 422, Want: wrong("label", "invalid")},
			{Name: "empty", Do: to + "?name=a", As: "will", Status: 422, Want: wrong("size", "custom")},
			{Name: "no such release", Do: "POST " + releases + "/7/assets?name=a", As: "will", Send: "x",
				Status: 404},
			{Name: "a reader's", Do: to + "?name=a", As: "rae", Send: "x", Status: 403},
			{Name: "nobody's", Do: to + "?name=a", Send: "x", Status: 401},
			{Name: "dots", Do: to + "?name=..", As: "will", Send: "x", Status: 201,
				Want: `{"name": "default"}`},
			{Name: "hidden", Do: to + "?name=.profile", As: "will", Send: "x", Status: 201,
				Want: `{"name": "default.profile"}`},
			{Name: "signs", Do: to + "?name=%E6%96%87%20%281%29%3B%22.zip", As: "will", Send: "x",
				Status: 201, Want: `{"name": "default.1.zip"}`},
			{Name: "taken", Do: to + "?name=..", As: "will", Send: "x", Status: 422,
				Want: wrong("name", "already_exists")},
			{Name: "a type that is none", Do: to + "?name=t", As: "will", Send: "x", Status: 201,
				Want:    `{"content_type": "application/octet-stream"}`,
				Headers: map[string]string{"Content-Type": "a b"}},
		})
		if n := len(storedFiles(t, s)); n != 4 {
			t.Errorf("there are %d files, want 4", n)
		}
	})
}

// Of many uploads of one name one is there, and the others leave nothing. A client that breaks off leaves
// nothing, and a body whose chunks are none is its fault.
func TestBrokenUploads(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		made(t, s, "POST "+releases, `{"tag_name": "v1"}`)
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				s.Do(t, apitest.Case{Do: "POST " + releases + "/1/assets?name=same", As: "will",
					Send: strings.Repeat(fmt.Sprint(n), 1000)})
			})
		}
		all.Wait()
		s.Check(t, apitest.Case{Do: "GET " + releases + "/1/assets", Status: 200,
			Want: `[{"name": "same", "size": 1000}]`})
		for _, rest := range []string{"Content-Length: 1000\r\n\r\nhalf",
			"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"} {
			c := uploading(t, s, "/1/assets?name=half", rest)
			leaves(t, s, 2) // it is received
			c.CloseWrite()
			status, err := bufio.NewReader(c).ReadString('\n')
			if err == nil && !strings.Contains(status, " 400 ") {
				t.Errorf("a body that breaks off is answered with %q", status)
			}
		}
		malformed := uploading(t, s, "/1/assets?name=half", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nxyz\r\n")
		answered(t, malformed, 400)
		leaves(t, s, 1)
		s.Check(t, apitest.Case{Do: "GET " + releases + "/1/assets", Status: 200, Want: `[{"name": "same"}]`})
	})
}

// uploading begins an upload of will's to an address of releases, which ends in headers and a body as given.
func uploading(t *testing.T, s *apitest.Server, address, rest string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Address)
	testkit.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	testkit.NoError(t, c.SetReadDeadline(time.Now().Add(testkit.Patience)))
	fmt.Fprintf(c, "POST %s%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s",
		releases, address, s.Token(t, "will"), rest)
	return c.(*net.TCPConn)
}

// answered reads the status of an answer.
func answered(t *testing.T, c net.Conn, want int) {
	t.Helper()
	status, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(status, fmt.Sprintf(" %d ", want)) {
		t.Errorf("the answer is %q, %v; want %d", status, err, want)
	}
}

// A refused upload is answered before its body has come, also while its client is silent or sends it in
// drips; and one that does not say its length once it is beyond the quota, although more would come.
func TestEarlyRefusals(t *testing.T) {
	t.Parallel()
	two, four := int64(2), int64(4)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		made(t, s, "POST "+releases, `{"tag_name": "v1", "draft": true}`)
		answered(t, uploading(t, s, "/7/assets?name=a", "Content-Length: 4000000\r\n\r\n"), 404)
		dripping := uploading(t, s, "/7/assets?name=a", "Content-Length: 4000000\r\n\r\n")
		go func() {
			for err := error(nil); err == nil; _, err = dripping.Write([]byte("x")) {
				time.Sleep(100 * time.Millisecond)
			}
		}()
		answered(t, dripping, 404)
		answered(t, uploading(t, s, "/1/assets?name=a", "Transfer-Encoding: chunked\r\n\r\n1400\r\n"+
			strings.Repeat("x", 0x1400)+"\r\n"), 403)
		leaves(t, s, 0)
	}, func(o *server.Options) { o.Quota = account.Quota{Repos: &two, KB: &four} })
}

// The bounds: the largest file, how much an owner may have, how many assets a release has.
func TestAssetBounds(t *testing.T) {
	t.Parallel()
	two, four := int64(2), int64(4)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Forge.Releases.MaxAsset = 0 // it is the server's own that counts
		s.Server.Forge().Releases.MaxAsset = 3000
		s.Users(t, "alice", "will")
		s.Grant(t, s.Repo(t, "alice/garden", false), "will", account.Push)
		made(t, s, "POST "+releases, `{"tag_name": "v1", "draft": true}`)
		to := "POST " + releases + "/1/assets?name="
		large := strings.Repeat("x", 3001)
		s.Run(t, []apitest.Case{
			{Name: "too large", Do: to + "a", As: "will", Send: large, Status: 422,
				Want: `{"errors": [{"resource": "ReleaseAsset", "field": "size", "code": "custom"}]}`},
			{Name: "as large as may be", Do: to + "a", As: "will", Send: large[1:], Status: 201},
			{Name: "beyond the quota", Do: to + "b", As: "will", Send: large[:2000], Status: 403},
			{Name: "within it", Do: to + "b", As: "will", Send: "x", Status: 201},
			{Name: "beyond it", Do: to + "c", As: "will", Send: "x", Status: 403},
			{Name: "room again", Do: "DELETE " + releases + "/assets/1", As: "will", Status: 204},
			{Do: to + "c", As: "will", Send: large[:2500], Status: 201},
			{Name: "of the release", Do: "DELETE " + releases + "/1", As: "will", Status: 204},
			{Do: "POST " + releases, As: "will", Send: `{"tag_name": "v1", "draft": true}`, Status: 201},
			{Do: "POST " + releases + "/2/assets?name=c", As: "will", Send: large[1:], Status: 201},
			{Name: "of the repository", Do: "DELETE /repos/alice/garden", As: "alice", Status: 204},
		})
		leaves(t, s, 0)
	}, func(o *server.Options) { o.Quota = account.Quota{Repos: &two, KB: &four} })
}

// A file without a row goes when it is old, also the beginning of one, and a file with a row never.
func TestSweep(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		made(t, s, "POST "+releases, `{"tag_name": "v1"}`)
		made(t, s, "POST "+releases+"/1/assets?name=kept", "kept")
		kept := storedFiles(t, s)[0]
		dir := filepath.Dir(kept)
		for _, name := range []string{filepath.Base(dir) + strings.Repeat("0", 30), ".tmp-123"} {
			testkit.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		}
		sweep := func(grace time.Duration, left int) {
			t.Helper()
			testkit.NoError(t, s.Forge.Maintenance.Sweep(t.Context(), grace))
			if n := len(storedFiles(t, s)); n != left {
				t.Errorf("after a sweep of what is older than %s there are %d files, want %d", grace, n, left)
			}
		}
		sweep(time.Hour, 3)
		sweep(0, 1)
		s.Check(t, apitest.Case{Do: "GET " + releases + "/assets/1", Headers: bytesOf, Status: 200,
			Body: "kept"})
	})
}

// An asset's name cannot be a path, a header or a special name of a file system.
func FuzzCleanName(f *testing.F) {
	for _, name := range []string{"a.zip", "../x", "a b", ".", "文.zip", "a\r\nb", "\xff", "con",
		strings.Repeat(".", 300)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name, ok := release.CleanName(given)
		if !ok {
			return
		}
		if name == "" || len(name) > release.MaxAssetName || name[0] == '.' || strings.HasSuffix(name, ".") ||
			strings.Contains(name, "..") || strings.Trim(name,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+@.") != "" {
			t.Errorf("%q becomes %q", given, name)
		}
		if again, ok := release.CleanName(name); !ok || again != name {
			t.Errorf("%q becomes %q, and that %q", given, name, again)
		}
	})
}
