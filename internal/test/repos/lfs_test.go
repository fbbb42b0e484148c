package repos_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/lfs"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// largeAnswer is what a batch answers about one object.
type largeAnswer struct {
	Objects []struct {
		OID           string `json:"oid"`
		Authenticated bool   `json:"authenticated"`
		Actions       map[string]struct {
			Href   string            `json:"href"`
			Header map[string]string `json:"header"`
		} `json:"actions"`
		Error *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	} `json:"objects"`
}

// largeOf asks a batch about an object of a content.
func largeOf(t *testing.T, s *apitest.Server, as, name, operation, content string, status int) *largeAnswer {
	t.Helper()
	var out largeAnswer
	a := s.Ask(t, as, "POST /"+name+".git/info/lfs/objects/batch", fmt.Sprintf(
		`{"operation": %q, "transfers": ["basic"], "objects": [{"oid": %q, "size": %d}]}`, operation,
		digest(content), len(content)), status)
	if status == 200 {
		a.JSON(t, &out)
	}
	return &out
}

// largePut is the request that uploads a content to a repository.
func largePut(as, name, content string, status int) apitest.Case {
	return apitest.Case{Do: fmt.Sprintf("PUT /%s.git/info/lfs/objects/%s/%d", name, digest(content), len(content)),
		As: as, Send: content, Status: status}
}

// largeGet is the request that downloads it.
func largeGet(as, name, content string, status int) apitest.Case {
	c := apitest.Case{Do: "GET /" + name + ".git/info/lfs/objects/" + digest(content), As: as, Status: status}
	if status == 200 {
		c.Body = content
	}
	return c
}

// What somebody uploads is what everybody gets, by its hash; nothing else is taken, and nothing is left of it.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		const content, at = "a large file", "/alice/garden.git/info/lfs/objects/"
		oid := digest(content)
		announced := largeOf(t, s, "will", "alice/garden", "upload", content, 200).Objects[0]
		put, verify := announced.Actions["upload"], announced.Actions["verify"]
		if !announced.Authenticated || put.Href != s.URL+at+oid+"/12" || verify.Href != s.URL+at+"verify" {
			t.Fatalf("%+v", announced)
		}
		down := largeOf(t, s, "rae", "alice/garden", "download", content, 200).Objects[0]
		if down.Error == nil || down.Error.Code != 404 {
			t.Errorf("%+v", down)
		}
		s.Run(t, []apitest.Case{
			{Name: "other bytes", Do: "PUT " + at + oid + "/12", As: "will", Send: "a larger one", Status: 422},
			{Name: "fewer bytes", Do: "PUT " + at + oid + "/12", As: "will", Send: "a large", Status: 422},
			{Name: "more bytes", Do: "PUT " + at + oid + "/12", As: "will", Send: content + "!", Status: 422},
			{Name: "announced as smaller", Do: "PUT " + at + oid + "/7", As: "will", Send: content, Status: 422},
			{Name: "no bytes", Do: "PUT " + at + digest("") + "/0", As: "will", Status: 422},
			{Name: "too large", Do: "PUT " + at + oid + "/6000000000", As: "will", Send: content, Status: 422},
			{Name: "no hash", Do: "PUT " + at + "x/12", As: "will", Send: content, Status: 404},
			{Name: "not there", Do: "POST " + at + "verify", As: "will", Status: 404,
				Send: `{"oid": "` + oid + `", "size": 12}`},
		})
		leaves(t, s, 0)
		s.Run(t, []apitest.Case{
			{Name: "upload", Do: "PUT " + at + oid + "/12", Send: content, Status: 200, Headers: put.Header},
			{Name: "again", Do: "PUT " + at + oid + "/12", Send: content, Status: 200, Headers: put.Header},
			{Name: "it has arrived", Do: "POST " + at + "verify", Status: 200, Headers: verify.Header,
				Send: `{"oid": "` + oid + `", "size": 12}`,
				Has:  map[string]string{"Content-Type": "application/vnd.git-lfs+json"}},
			{Name: "with another size", Do: "POST " + at + "verify", As: "will", Status: 422,
				Send: `{"oid": "` + oid + `", "size": 13}`},
			largeGet("", "alice/garden", content, 200),
			{Name: "a range", Do: "GET " + at + oid, Status: 206, Body: "file",
				Headers: map[string]string{"Range": "bytes=8-"}, Has: map[string]string{"Content-Range": "bytes 8-11/12"}},
			{Name: "past the end", Do: "GET " + at + oid, Status: 416, Headers: map[string]string{"Range": "bytes=12-"}},
			{Do: "GET " + at + digest("x"), Status: 404},
			{Name: "two objects", Do: "POST " + at + "batch", As: "rae", Status: 200,
				Send: `{"operation": "download", "objects": [{"oid": "` + oid + `", "size": 12}, {"oid": "` + oid + `", "size": 11},
					{"oid": "x", "size": 1}, {"oid": "` + digest("x") + `", "size": 1}]}`,
				Want: `{"transfer": "basic", "objects": [{"actions": {"download": {"href": "{base}` + at + oid + `"}}},
					{"error": {"code": 422}}, {"error": {"code": 422}}, {"error": {"code": 404}}]}`},
			{Do: "POST " + at + "batch", Send: `{"operation": "delete"}`, Status: 422},
			{Do: "POST " + at + "batch", Send: `{"operation": "download", "transfers": ["tus"]}`, Status: 422},
			{Do: "POST " + at + "batch", Send: `{"operation": "download", "hash_algo": "md5"}`, Status: 409},
			{Do: "POST " + at + "batch", Send: `{"operation": `, Status: 400},
			{Do: "POST " + at + "batch", Status: 413,
				Send: `{"operation": "download", "objects": [` + strings.Repeat(`{},`, 1000) + `{}]}`},
		})
		if again := largeOf(t, s, "will", "alice/garden", "upload", content, 200).Objects[0]; again.Actions != nil {
			t.Errorf("an object that is there is uploaded again: %+v", again)
		}
		leaves(t, s, 1)
		sound(t, s)
	})
}

// Of several uploads of one object at the same time one stays, and all are told that it is there.
func TestLargeObjectsAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		put := largePut("will", "alice/garden", strings.Repeat("x", 1<<20), 200)
		for _, status := range s.Together(t, put, put, put, put) {
			if status != 200 {
				t.Errorf("%d", status)
			}
		}
		leaves(t, s, 1)
		sound(t, s)
	})
}

// A clone with many objects is one request against the caller's limit; guesses at tokens count.
func TestLargeObjectsAndTheRateLimit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		s.Check(t, largePut("alice", "alice/garden", "content", 200))
		for _, as := range []string{"", "rae"} {
			header := largeOf(t, s, as, "alice/garden", "download", "content", 200).Objects[0].Actions["download"].Header
			get := largeGet("", "alice/garden", "content", 200)
			get.Headers = header
			for range 20 {
				s.Check(t, get)
			}
		}
		guess := largeGet("", "alice/garden", "content", 401)
		guess.Headers = map[string]string{"Authorization": "RemoteAuth download-1-1-0-9999999999-00"}
		for range 9 {
			s.Check(t, guess)
		}
		guess.Status = 403
		s.Check(t, guess)
	}, func(o *server.Options) { o.RateLimit = 10 })
}

// An upload that breaks off leaves nothing, and can begin again.
func TestLargeObjectsBreakOff(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		content := strings.Repeat("x", 1<<20)
		c, err := net.Dial("tcp", s.Address)
		testkit.NoError(t, err)
		fmt.Fprintf(c, "PUT /alice/garden.git/info/lfs/objects/%s/%d HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Content-Length: %[2]d\r\n\r\n%s", digest(content), len(content), s.Token(t, "will"), content[:1<<19])
		testkit.Eventually(t, func() bool { return len(storedFiles(t, s)) == 1 }, "the upload begins")
		testkit.NoError(t, c.Close())
		leaves(t, s, 0)
		s.Check(t, largeGet("", "alice/garden", content, 404))
		s.Check(t, largePut("will", "alice/garden", content, 200))
		s.Check(t, largeGet("", "alice/garden", content, 200))
		sound(t, s)
	})
}

// A file is shown, served and packed in the place of its pointer; where the object is missing, the pointer is.
func TestLargeFilesAreShown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		put := func(path, content string) {
			t.Helper()
			text := lfs.Pointer{OID: digest(content), Size: int64(len(content))}.String()
			a := s.Do(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + path, As: "alice", Send: fmt.Sprintf(
				`{"message": %q, "content": %q%s}`, path, base64.StdEncoding.EncodeToString([]byte(text)), shaOf(t, s, path))})
			if a.Status/100 != 2 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
		}
		const text, table = "the first line\nthe second line\n", "name,size\nrose,3\n"
		for _, content := range []string{text, table, string(png), "a picture no more"} {
			s.Check(t, largePut("alice", "alice/garden", content, 200))
		}
		put("a.txt", text)
		put("b.csv", table)
		put("c.png", string(png))
		put("gone.txt", "never uploaded")
		s.Visit(t, "alice", "GET /alice/garden/blob/main/a.txt").Shows(t, 200, "Stored with Git LFS", "the second line")
		page := s.Visit(t, "alice", "GET /alice/garden/blob/main/a.txt")
		for _, no := range []string{"/edit/main/a.txt", "/blame/main/a.txt", "oid sha256"} {
			if strings.Contains(string(page.Body), no) {
				t.Errorf("the page of a large file has %q", no)
			}
		}
		s.Visit(t, "", "GET /alice/garden/blob/main/b.csv").Shows(t, 200, "Stored with Git LFS", "rose")
		s.Visit(t, "", "GET /alice/garden/blob/main/c.png").Shows(t, 200, "Stored with Git LFS")
		gone := s.Visit(t, "", "GET /alice/garden/blob/main/gone.txt").Shows(t, 200, "oid sha256:")
		if strings.Contains(string(gone.Body), "Stored with Git LFS") {
			t.Error("a pointer to nothing is shown as a file")
		}
		s.Visit(t, "", "GET /alice/garden/blob/main/c.png?raw=true").Leads(t, "/alice/garden/raw/main/c.png")
		s.Run(t, []apitest.Case{
			{Do: "GET /alice/garden/raw/main/c.png", Status: 200, Body: string(png), Has: map[string]string{
				"Content-Type": "image/png", "Etag": `"` + digest(string(png)) + `"`}},
			{Do: "GET /alice/garden/raw/main/a.txt", Status: 206, Body: "first",
				Headers: map[string]string{"Range": "bytes=4-8"}},
			{Do: "GET /alice/garden/raw/main/a.txt", Status: 200, Body: text, Has: map[string]string{
				"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}},
			{Do: "GET /alice/garden/raw/main/gone.txt", Status: 200,
				Body: lfs.Pointer{OID: digest("never uploaded"), Size: 14}.String()},
		})
		files := zipOf(t, s.Ask(t, "", "GET /alice/garden/archive/main.zip", "", 200).Body)
		before := s.Ask(t, "", "GET /alice/garden/archive/main.tar.gz", "", 200)
		if files["a.txt"] != text || files["c.png"] != string(png) || !strings.HasPrefix(files["gone.txt"], "version ") {
			t.Errorf("the archive has %q", files)
		}
		if list := tarOf(t, before.Body); list["a.txt"] != text || list["c.png"] != string(png) {
			t.Errorf("the archive has %q", list)
		}
		s.Check(t, largePut("alice", "alice/garden", "never uploaded", 200))
		after := s.Check(t, apitest.Case{Do: "GET /alice/garden/archive/main.tar.gz", Status: 200,
			Headers: map[string]string{"If-None-Match": before.Header.Get("Etag")}})
		if list := tarOf(t, after.Body); list["gone.txt"] != "never uploaded" {
			t.Errorf("the archive has %q", list)
		}
		// Comparisons tell sizes, and show pictures.
		first := s.Tip(t, "alice", "alice/garden", "main")
		put("a.txt", table)
		put("c.png", "a picture no more")
		commit := s.Visit(t, "", "GET /alice/garden/commit/"+s.Tip(t, "alice", "alice/garden", "main"))
		commit.Shows(t, 200, fmt.Sprintf("Stored with Git LFS: %d bytes → 17 bytes", len(png)), "Before", "After", "Show the pointer")
		s.Visit(t, "", "GET /alice/garden/compare/"+first+"...main").Shows(t, 200, "→ 17 bytes")
		sound(t, s)
	})
}

// shaOf is the member sha of the JSON that changes a file, if that is there.
func shaOf(t *testing.T, s *apitest.Server, path string) string {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/contents/" + path, As: "alice"})
	if a.Status != 200 {
		return ""
	}
	var file struct{ SHA string }
	a.JSON(t, &file)
	return `, "sha": "` + file.SHA + `"`
}

// zipOf reads the files of an archive, without its folder.
func zipOf(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	testkit.NoError(t, err)
	files := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		testkit.NoError(t, err)
		text, err := io.ReadAll(in)
		testkit.NoError(t, err)
		_, name, _ := strings.Cut(f.Name, "/")
		files[name] = string(text)
	}
	return files
}

// tarOf is zipOf for a tar.gz.
func tarOf(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	testkit.NoError(t, err)
	files := map[string]string{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			return files
		}
		testkit.NoError(t, err)
		text, err := io.ReadAll(in)
		testkit.NoError(t, err)
		_, name, _ := strings.Cut(h.Name, "/")
		files[name] = string(text)
	}
}

// Knowing the hash of an object opens nothing: not by asking for it in another repository, and not by announcing it
// there.
func TestLargeObjectsAreNotClaimed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, true)
		const content = "a secret"
		s.Check(t, largePut("alice", "alice/garden", content, 200))
		s.Repo(t, "sam/shed", true)
		made := largeOf(t, s, "sam", "sam/shed", "upload", content, 200).Objects[0]
		if made.Actions["upload"].Href == "" {
			t.Errorf("an object of another repository needs no upload: %+v", made)
		}
		s.Run(t, []apitest.Case{
			{Do: "POST /sam/shed.git/info/lfs/objects/verify", As: "sam", Status: 404,
				Send: `{"oid": "` + digest(content) + `", "size": 8}`},
			largeGet("sam", "sam/shed", content, 404),
			largeGet("sam", "alice/garden", content, 404),
			largeGet("", "alice/garden", content, 401),
			{Name: "other bytes", Do: "PUT /sam/shed.git/info/lfs/objects/" + digest(content) + "/8", As: "sam",
				Send: "a guess!", Status: 422},
			largeGet("sam", "sam/shed", content, 404),
			largeGet("rae", "alice/garden", content, 200),
		})
		sound(t, s)
	})
}

// Rights are those of Git: reading downloads, writing uploads, and what a token was given out for ends with the
// right.
func TestLargeObjectRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, true)
		a := s.Access(t, "alice", "alice/garden")
		s.SetToken("fine reader", s.Fine(t, "will", false, int64(a.ID)))
		s.SetToken("fine writer", s.Fine(t, "will", true, int64(a.ID)))
		s.Repo(t, "will/own", true)
		s.SetToken("fine elsewhere", s.Fine(t, "will", true, int64(s.Access(t, "will", "will/own").ID)))
		s.SetToken("public only", s.Scoped(t, "will", "public_repo"))
		s.SetToken("repo", s.Scoped(t, "will", "repo"))
		s.Bot(t, "reads", "alice", "contents=read,metadata=read")
		s.Bot(t, "writes", "alice", "contents=write,metadata=read")
		s.Check(t, largePut("alice", "alice/garden", "there", 200))
		for n, c := range []struct {
			as       string
			down, up int
		}{
			{"alice", 200, 200}, {"will", 200, 200}, {"rae", 200, 403}, {"sam", 404, 404}, {"", 401, 401},
			{"fine reader", 200, 403}, {"fine writer", 200, 200}, {"fine elsewhere", 404, 404},
			{"public only", 404, 404}, {"repo", 200, 200}, {"reads[bot]", 200, 403}, {"writes[bot]", 200, 200},
		} {
			content := fmt.Sprint("upload ", n)
			largeOf(t, s, c.as, "alice/garden", "download", "there", c.down)
			largeOf(t, s, c.as, "alice/garden", "upload", content, c.up)
			s.Run(t, []apitest.Case{largeGet(c.as, "alice/garden", "there", c.down),
				largePut(c.as, "alice/garden", content, c.up)})
		}
		up := largeOf(t, s, "will", "alice/garden", "upload", "later", 200).Objects[0].Actions["upload"].Header
		down := largeOf(t, s, "will", "alice/garden", "download", "there", 200).Objects[0].Actions["download"].Header
		forged := map[string]string{"Authorization": strings.Replace(down["Authorization"], "download", "upload", 1)}
		with := func(c apitest.Case, header map[string]string) apitest.Case {
			c.As, c.Headers = "", header
			return c
		}
		put, get := largePut("", "alice/garden", "later", 403), largeGet("", "alice/garden", "there", 200)
		s.Run(t, []apitest.Case{
			with(put, down),
			with(largePut("", "alice/garden", "later", 401), forged),
			with(largePut("", "will/own", "later", 403), up),
			with(get, down),
			{Name: "it opens nothing else", Do: "GET /repos/alice/garden", Headers: down, Status: 401},
			{Name: "nor Git", Do: "GET /alice/garden.git/info/refs?service=git-upload-pack", Headers: down, Status: 401},
			{Do: "DELETE /repos/alice/garden/collaborators/will", As: "alice", Status: 204},
			with(largeGet("", "alice/garden", "there", 404), down),
			with(largePut("", "alice/garden", "later", 404), up),
			{Do: "PUT /repos/alice/garden/collaborators/will", As: "alice", Send: `{"permission": "push"}`, Status: 204},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`, Status: 200},
			with(get, down),
			with(put, up),
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": false}`, Status: 200},
			{Do: "PUT /users/will/suspended", As: "chief", Status: 204},
			with(largeGet("", "alice/garden", "there", 403), down),
			with(put, up),
		})
		sound(t, s)
	})
}

// A server without Git LFS says so, and one with a bound keeps it.
func TestLargeObjectBounds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		got := largeOf(t, s, "will", "alice/garden", "upload", "eleven byte", 200).Objects[0]
		if got.Error == nil || got.Error.Code != 422 {
			t.Errorf("%+v", got)
		}
		s.Check(t, largePut("will", "alice/garden", "eleven byte", 422))
		s.Check(t, largePut("will", "alice/garden", "ten bytes!", 200))
	}, func(o *server.Options) { o.LFSMaxObject = 10 })
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		largeOf(t, s, "will", "alice/garden", "upload", "x", 404)
		s.Ask(t, "will", "POST /alice/garden.git/info/lfs/locks/verify", `{}`, 404)
	}, func(o *server.Options) { o.LFSMaxObject = 0 })
}

// Objects count in the quota of the repository's owner, and a fork's in that of the fork's.
func TestLargeObjectQuota(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "a", "content": "YQ=="}`, 201)
		have := owned(t, s, "alice")
		setKB(t, s, "alice", have+3)
		two := strings.Repeat("x", 2048)
		s.Check(t, largePut("will", "alice/garden", two, 200))
		if kb := owned(t, s, "alice"); kb != have+2 {
			t.Errorf("%d KiB count, want %d", kb, have+2)
		}
		over := largeOf(t, s, "will", "alice/garden", "upload", two+"y", 200).Objects[0]
		if over.Error == nil || over.Error.Code != 507 || !strings.Contains(over.Error.Message, "alice") {
			t.Errorf("%+v", over)
		}
		s.Check(t, largePut("will", "alice/garden", two+"y", 403))
		setKB(t, s, "sam", 1)
		s.Ask(t, "sam", "POST /repos/alice/garden/forks", "", 403)
		leaves(t, s, 1)
		setKB(t, s, "sam", 1000)
		s.Ask(t, "sam", "POST /repos/alice/garden/forks", "", 202)
		s.Check(t, largeGet("", "sam/garden", two, 200))
		if kb := owned(t, s, "sam"); kb != have+2 {
			t.Errorf("%d KiB count for the fork, want %d", kb, have+2)
		}
		s.Ask(t, "alice", "DELETE /repos/alice/garden", "", 204)
		leaves(t, s, 1)
		s.Check(t, largeGet("", "sam/garden", two, 200))
		sound(t, s)
	})
}

// pointerTo is the content of a pointer as JSON has it.
func pointerTo(content string) string {
	text, _ := json.Marshal(lfs.Pointer{OID: digest(content), Size: int64(len(content))}.String())
	return string(text)
}

// What commits of a fork point to comes with them to the repository of the pull request, and back; other objects of
// the fork do not.
func TestLargeObjectsFollowCommits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "a", "content": "YQ=="}`, 201)
		s.Ask(t, "sam", "POST /repos/alice/garden/forks", "", 202)
		s.Check(t, largePut("sam", "sam/garden", "proposed", 200))
		s.Check(t, largePut("sam", "sam/garden", "kept to myself", 200))
		tip := s.Tip(t, "sam", "sam/garden", "main")
		var tree, commit struct {
			SHA string `json:"sha"`
		}
		s.Ask(t, "sam", "POST /repos/sam/garden/git/trees", `{"base_tree": "`+tip+`", "tree": [{"path": "big.bin",
			"mode": "100644", "type": "blob", "content": `+pointerTo("proposed")+`}]}`, 201).JSON(t, &tree)
		s.Ask(t, "sam", "POST /repos/sam/garden/git/commits", `{"message": "b", "tree": "`+tree.SHA+`",
			"parents": ["`+tip+`"]}`, 201).JSON(t, &commit)
		s.Ask(t, "sam", "PATCH /repos/sam/garden/git/refs/heads/main", `{"sha": "`+commit.SHA+`"}`, 200)
		before := owned(t, s, "alice")
		s.Run(t, []apitest.Case{
			largeGet("", "alice/garden", "proposed", 404),
			{Do: "POST /repos/alice/garden/pulls", As: "sam", Status: 201,
				Send: `{"title": "b", "head": "sam:main", "base": "main"}`},
			largeGet("", "alice/garden", "proposed", 200),
			largeGet("", "alice/garden", "kept to myself", 404),
			{Name: "who maintains the base may push to its branch", Do: "PATCH /repos/alice/garden/pulls/1", As: "sam",
				Send: `{"maintainer_can_modify": true}`, Status: 200},
			largePut("alice", "sam/garden", strings.Repeat("mended", 1000), 200),
			largePut("rae", "sam/garden", "not mine to mend", 403),
			{Do: "PUT /repos/alice/garden/pulls/1/merge", As: "alice", Status: 200},
			{Do: "DELETE /repos/sam/garden", As: "sam", Status: 204},
			largeGet("", "alice/garden", "proposed", 200),
			{Name: "raw", Do: "GET /alice/garden/raw/main/big.bin", Status: 200, Body: "proposed"},
			{Name: "REST has the pointer", Do: "GET /repos/alice/garden/contents/big.bin", Status: 200,
				Want: fmt.Sprintf(`{"size": %d}`, len(lfs.Pointer{OID: digest("proposed"), Size: 8}.String()))},
		})
		if after := owned(t, s, "alice"); after > before+1 { // what the merge wrote
			t.Errorf("the owner pays %d KiB for what sam proposed", after-before)
		}
		sound(t, s)
	})
}

// A pusher to a fork need not upload what the parent has and the pusher may read there, unless the token may not.
func TestLargeObjectsOfTheNetwork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, true)
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "a", "content": "YQ=="}`, 201)
		s.Ask(t, "rae", "POST /repos/alice/garden/forks", "", 202)
		fork := s.Access(t, "rae", "rae/garden")
		s.Grant(t, fork.Repo, "sam", account.Push)
		for _, content := range []string{"first", "second"} {
			s.Check(t, largePut("alice", "alice/garden", content, 200))
		}
		s.SetToken("fork only", s.Fine(t, "rae", true, int64(fork.ID)))
		for _, as := range []string{"sam", "fork only"} { // who sees the fork alone
			if got := largeOf(t, s, as, "rae/garden", "upload", "first", 200).Objects[0]; got.Actions["upload"].Href == "" {
				t.Errorf("%s claims an object of the parent: %+v", as, got)
			}
			s.Check(t, largeGet(as, "rae/garden", "first", 404))
		}
		if got := largeOf(t, s, "rae", "rae/garden", "upload", "first", 200).Objects[0]; got.Actions != nil {
			t.Errorf("%+v", got)
		}
		s.Check(t, largeGet("sam", "rae/garden", "first", 200))
		s.Ask(t, "alice", "DELETE /repos/alice/garden/collaborators/rae", "", 204)
		s.Check(t, largeGet("sam", "rae/garden", "first", 404)) // the fork is withdrawn
		sound(t, s)
	})
}

// largeTransitions are those of the package's comment. will pushes; he has a lock on big.bin.
var largeTransitions = []struct {
	name    string
	private bool // it is before
	do      []apitest.Case
	sees    attachmentSee
	at      string // the repository afterwards; "": as before
	lockBy  string // who has the lock; "": there is none
}{
	{name: "turned private", do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"private": true}`, Status: 200}},
		sees: attachmentSee{"alice": 200, "rae": 200, "sam": 404, "": 401}, lockBy: "will"},
	{name: "turned public", private: true, do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"private": false}`, Status: 200}}, sees: attachmentSee{"sam": 200, "": 200}, lockBy: "will"},
	{name: "renamed", private: true, do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"name": "beds"}`, Status: 200}, {Do: "GET {old}", As: "rae", Status: 301}, {Do: "GET {old}", As: "sam", Status: 404}},
		sees: attachmentSee{"rae": 200, "sam": 404}, at: "alice/beds", lockBy: "will"},
	{name: "transferred", private: true, do: []apitest.Case{{Do: "POST /repos/alice/garden/transfer", As: "chief",
		Send: `{"new_owner": "sam"}`, Status: 202}}, sees: attachmentSee{"sam": 200, "rae": 200, "": 401},
		at: "sam/garden", lockBy: "will"},
	{name: "archived", do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`,
		Status: 200}, largePut("will", "alice/garden", "more", 403),
		{Do: "POST /alice/garden.git/info/lfs/locks", As: "will", Send: `{"path": "x"}`, Status: 403},
		{Do: "POST /alice/garden.git/info/lfs/locks/1/unlock", As: "will", Send: `{}`, Status: 403}},
		sees: attachmentSee{"": 200}, lockBy: "will"},
	{name: "forked", do: []apitest.Case{{Do: "POST /repos/alice/garden/forks", As: "sam", Status: 202},
		{Do: "GET /sam/garden.git/info/lfs/locks", Status: 200, Want: `{"locks": []}`},
		{Do: "DELETE /repos/sam/garden", As: "sam", Status: 204}}, sees: attachmentSee{"": 200}, lockBy: "will"},
	{name: "membership lost", private: true, do: []apitest.Case{{Do: "DELETE /repos/alice/garden/collaborators/will",
		As: "alice", Status: 204}, {Do: "POST /alice/garden.git/info/lfs/locks/1/unlock", As: "will", Send: `{}`, Status: 404}},
		sees: attachmentSee{"will": 404, "rae": 200}, lockBy: "will"},
	{name: "unlocked by force", do: []apitest.Case{
		{Do: "POST /alice/garden.git/info/lfs/locks/1/unlock", As: "rae", Send: `{"force": true}`, Status: 403},
		{Do: "POST /alice/garden.git/info/lfs/locks/1/unlock", As: "alice", Send: `{}`, Status: 403},
		{Do: "POST /alice/garden.git/info/lfs/locks/1/unlock", As: "alice", Send: `{"force": true}`, Status: 200,
			Want: `{"lock": {"owner": {"name": "will"}}}`}}, sees: attachmentSee{"": 200}},
	{name: "account renamed", do: []apitest.Case{{Do: "PATCH /admin/users/will", As: "chief", Send: `{"login": "bill"}`,
		Status: 202}}, sees: attachmentSee{"": 200}, lockBy: "bill"},
	{name: "suspended", do: []apitest.Case{{Do: "PUT /users/will/suspended", As: "chief", Status: 204}},
		sees: attachmentSee{"will": 403, "rae": 200}, lockBy: "will"},
	{name: "account deleted", do: []apitest.Case{{Do: "DELETE /admin/users/will", As: "chief", Status: 204}},
		sees: attachmentSee{"will": 401, "": 200}},
	{name: "repository deleted", do: []apitest.Case{{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204}},
		sees: attachmentSee{"alice": 404, "": 401}, at: "-"},
}

// Whatever happens to a repository, its objects are for those who see it then, and its locks are kept or gone.
func TestLargeObjectTransitions(t *testing.T) {
	t.Parallel()
	for _, row := range largeTransitions {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				attachmentGarden(t, s, row.private)
				s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "a", "content": "YQ=="}`, 201)
				s.Check(t, largePut("will", "alice/garden", "content", 200))
				s.Ask(t, "will", "POST /alice/garden.git/info/lfs/locks", `{"path": "big.bin"}`, 201)
				old := largeGet("", "alice/garden", "content", 0).Do
				for _, c := range row.do {
					c.Do = strings.Replace(c.Do, "GET {old}", old, 1)
					s.Check(t, c)
				}
				at := row.at
				if at == "" || at == "-" {
					at = "alice/garden"
				}
				for as, status := range row.sees {
					s.Check(t, largeGet(as, at, "content", status))
				}
				if row.at == "-" {
					leaves(t, s, 0)
				} else {
					leaves(t, s, 1)
					want := `{"locks": []}`
					if row.lockBy != "" {
						want = `{"locks": [{"path": "big.bin", "owner": {"name": "` + row.lockBy + `"}}]}`
					}
					s.Check(t, apitest.Case{Do: "GET /" + at + ".git/info/lfs/locks", As: "chief", Status: 200, Want: want})
				}
				sound(t, s)
			})
		})
	}
}

// Locks: who may have them, what is listed, and pages of them.
func TestLocks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, true)
		const at = "/alice/garden.git/info/lfs/locks"
		s.Run(t, []apitest.Case{
			{Do: "POST " + at, As: "will", Send: `{"path": "a.bin", "ref": {"name": "refs/heads/main"}}`, Status: 201,
				Want: `{"lock": {"id": "1", "path": "a.bin", "locked_at": "$any", "owner": {"name": "will"}}}`},
			{Do: "POST " + at, As: "alice", Send: `{"path": "a.bin"}`, Status: 409,
				Want: `{"message": "$any", "lock": {"id": "1", "owner": {"name": "will"}}}`},
			{Do: "POST " + at, As: "alice", Send: `{"path": "art/b.psd"}`, Status: 201},
			{Do: "POST " + at, As: "rae", Send: `{"path": "c"}`, Status: 403},
			{Do: "POST " + at, As: "sam", Send: `{"path": "c"}`, Status: 404},
			{Do: "POST " + at, Send: `{"path": "c"}`, Status: 401},
			{Do: "POST " + at, As: "will", Send: `{"path": ""}`, Status: 422},
			{Do: "POST " + at, As: "will", Send: `{"path": "/etc/passwd"}`, Status: 422},
			{Do: "POST " + at, As: "will", Send: `{"path": "a/../b"}`, Status: 422},
			{Do: "POST " + at, As: "will", Send: `{"path": "` + strings.Repeat("a", 5000) + `"}`, Status: 422},
			{Do: "GET " + at, As: "rae", Status: 200, Want: `{"locks": [{"id": "1"}, {"id": "2"}]}`},
			{Do: "GET " + at + "?limit=1", As: "rae", Status: 200, Want: `{"locks": [{"id": "1"}], "next_cursor": "2"}`},
			{Do: "GET " + at + "?cursor=2", As: "rae", Status: 200, Want: `{"locks": [{"id": "2"}]}`},
			{Do: "GET " + at + "?path=art/b.psd", As: "rae", Status: 200, Want: `{"locks": [{"id": "2"}]}`},
			{Do: "GET " + at + "?id=1", As: "rae", Status: 200, Want: `{"locks": [{"id": "1"}]}`},
			{Do: "GET " + at + "?id=x", As: "rae", Status: 422},
			{Do: "GET " + at, Status: 401},
			{Do: "POST " + at + "/verify", As: "will", Send: `{}`, Status: 200,
				Want: `{"ours": [{"id": "1"}], "theirs": [{"id": "2", "owner": {"name": "alice"}}]}`},
			{Do: "POST " + at + "/verify", As: "rae", Send: `{}`, Status: 403},
			{Do: "POST " + at + "/2/unlock", As: "will", Send: `{"force": true}`, Status: 403},
			{Do: "POST " + at + "/1/unlock", As: "will", Send: `{}`, Status: 200, Want: `{"lock": {"id": "1"}}`},
			{Do: "POST " + at + "/1/unlock", As: "will", Send: `{}`, Status: 404},
		})
		sound(t, s)
	})
}

// A file that somebody locked cannot be changed by others, in whatever way: not by the API, by a merge, or by a
// push of plain Git; what somebody else changed before, or on the default branch, is no reason to refuse.
func TestLocksRefuseChanges(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		put := func(as, path, branch, send string, status int) apitest.Case {
			return apitest.Case{Do: "PUT /repos/alice/garden/contents/" + path, As: as, Status: status,
				Send: `{"message": "x", "content": "` + send + `", "branch": "` + branch + `"}`}
		}
		const locks = "/alice/garden.git/info/lfs/locks"
		s.Check(t, put("alice", "a", "main", "YQ==", 201))
		first := s.Tip(t, "alice", "alice/garden", "main")
		s.Ask(t, "alice", "POST /repos/alice/garden/git/refs", `{"ref": "refs/heads/topic", "sha": "`+first+`"}`, 201)
		s.Check(t, put("alice", "art/b", "topic", "Yg==", 201))
		s.Ask(t, "alice", "POST /repos/alice/garden/pulls", `{"title": "b", "head": "topic", "base": "main"}`, 201)
		s.Ask(t, "will", "POST "+locks, `{"path": "art/b"}`, 201)
		refused := s.Do(t, put("alice", "art/b", "main", "Yg==", 0))
		if refused.Status != 409 && refused.Status != 422 || !strings.Contains(string(refused.Body), "locked by will") {
			t.Errorf("%d %s", refused.Status, refused.Body)
		}
		merge := s.Do(t, apitest.Case{Do: "PUT /repos/alice/garden/pulls/1/merge", As: "alice"})
		if merge.Status == 200 || !strings.Contains(string(merge.Body), "locked by will") {
			t.Errorf("%d %s", merge.Status, merge.Body)
		}
		s.Run(t, []apitest.Case{
			put("alice", "other", "main", "Yg==", 201),
			put("will", "art/b", "main", "Yg==", 201),
			{Name: "what the owner of the lock did comes along", Do: "POST /repos/alice/garden/git/refs", As: "alice",
				Send: `{"ref": "refs/heads/two", "sha": "` + s.Tip(t, "alice", "alice/garden", "main") + `"}`, Status: 201},
		})
		// going back, and a merge that takes the older side, change the file without a commit that does
		tip := s.Tip(t, "alice", "alice/garden", "main")
		var older, side struct {
			SHA  string
			Tree struct{ SHA string }
		}
		s.Ask(t, "alice", "GET /repos/alice/garden/git/commits/"+first, ``, 200).JSON(t, &older)
		s.Ask(t, "alice", "POST /repos/alice/garden/git/commits", `{"message": "merge", "tree": "`+older.Tree.SHA+
			`", "parents": ["`+tip+`", "`+first+`"]}`, 201).JSON(t, &side)
		for _, send := range []string{`{"sha": "` + side.SHA + `"}`, `{"sha": "` + first + `", "force": true}`} {
			a := s.Do(t, apitest.Case{Do: "PATCH /repos/alice/garden/git/refs/heads/main", As: "alice", Send: send})
			if a.Status != 422 || !strings.Contains(string(a.Body), "locked by will") {
				t.Errorf("%s: %d %s", send, a.Status, a.Body)
			}
		}
		// a push of plain Git
		dir, env := t.TempDir(), os.Environ()
		git := func(args ...string) string { t.Helper(); return run(t, dir, env, "git", args...) }
		git("clone", "-q", s.Remote(t, "alice", "alice/garden"), ".")
		testkit.NoError(t, os.WriteFile(filepath.Join(dir, "art", "b"), []byte("mine"), 0o600))
		git("-c", "user.name=a", "-c", "user.email=a@x", "commit", "-qam", "mine")
		out, err := try(t, dir, env, "git", "push", "origin", "HEAD:main", "HEAD:refs/heads/three")
		if err == nil || !strings.Contains(out, `"art/b" is locked by will`) || strings.Contains(out, "new branch") {
			t.Errorf("%v %s", err, out)
		}
		s.Ask(t, "alice", "POST "+locks+"/1/unlock", `{"force": true}`, 200)
		git("push", "-q", "origin", "HEAD:main")
		sound(t, s)
	})
}

// Tokens end after an hour.
func TestLargeObjectTokensEnd(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	attachmentGarden(t, s, true)
	s.Check(t, largePut("alice", "alice/garden", "content", 200))
	header := largeOf(t, s, "rae", "alice/garden", "download", "content", 200).Objects[0].Actions["download"].Header
	get := largeGet("", "alice/garden", "content", 200)
	get.Headers = header
	s.Check(t, get)
	words := strings.Split(header["Authorization"], "-")
	words[4] = fmt.Sprint(time.Now().Add(1000 * time.Hour).Unix())
	late := largeGet("", "alice/garden", "content", 401)
	late.Headers = map[string]string{"Authorization": strings.Join(words, "-")}
	s.Check(t, late)
}
