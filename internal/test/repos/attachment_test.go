package repos_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net"
	"net/textproto"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// png is a picture of one pixel.
const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

const attachmentAt = "/alice/garden/attachments"

// attachmentTold is what an upload answers.
type attachmentTold struct{ Key, Name, URL, Path, Markdown string }

// attachmentGarden creates alice/garden with the writer will, the reader rae, and the strangers sam and
// chief, an administrator.
func attachmentGarden(t *testing.T, s *apitest.Server, private bool) {
	t.Helper()
	s.Users(t, "alice", "will", "rae", "sam")
	s.Admin(t, "chief")
	r := s.Repo(t, "alice/garden", private)
	s.Grant(t, r, "will", account.Push)
	s.Grant(t, r, "rae", account.Pull)
}

// form is a form with a file, and its media type.
func form(t *testing.T, name, content string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("file", name)}})
	testkit.NoError(t, err)
	part.Write([]byte(content))
	w.Close()
	return b.String(), w.FormDataContentType()
}

// sending is the upload of a file, as the script makes it.
func sending(t *testing.T, as, name, content string, status int) apitest.Case {
	t.Helper()
	body, kind := form(t, name, content)
	return apitest.Case{Do: "POST " + attachmentAt, As: as, Send: body, Status: status,
		Headers: map[string]string{"Content-Type": kind, "Accept": "application/json"}}
}

func attachmentSent(t *testing.T, s *apitest.Server, as, name, content string) (made attachmentTold) {
	t.Helper()
	s.Check(t, sending(t, as, name, content, 201)).JSON(t, &made)
	return made
}

// What a reader attaches comes back byte by byte: a picture to be shown, anything else only to be saved.
func TestServing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		const sandbox = "default-src 'none'; sandbox"
		for _, c := range []struct{ name, content, kind, disposition, text string }{
			{"bed.png", png, "image/png", "inline; filename=bed.png", "![bed.png]("},
			{"a.txt", "GIF89a<script>alert(1)</script>", "image/gif", "inline; filename=a.txt", "![a.txt]("},
			{"a.jpg", "\xff\xd8\xff\xe0*/=1;alert(1)//", "image/jpeg", "inline; filename=a.jpg", "![a.jpg]("},
			{"a.webp", "RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", "inline; filename=a.webp", "![a.webp]("},
			{"no.avif", "\x00\x00\x00\x1cftypavif<script>", "application/octet-stream",
				"attachment; filename=no.avif", "[no.avif]("},
			{"a.avif", "\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1", "image/avif",
				"inline; filename=a.avif", "![a.avif]("},
			{"a.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
				"application/octet-stream", "attachment; filename=a.svg", "[a.svg]("},
			{"a.png", "<html><script>alert(1)</script>", "application/octet-stream",
				"attachment; filename=a.png", "[a.png]("},
			{"a.bmp", "BM\x00\x00", "application/octet-stream", "attachment; filename=a.bmp", "[a.bmp]("},
			{"a.pdf", "%PDF-1.7", "application/octet-stream", "attachment; filename=a.pdf", "[a.pdf]("},
			{`../../etc\x"q`, "x", "application/octet-stream", `attachment; filename="x\"q"`, `[x"q](`},
			{"a](javascript:alert(1)) <b>", "x", "application/octet-stream",
				`attachment; filename="a](javascript:alert(1)) <b>"`,
				`[a\]\(javascript\:alert\(1\)\) \<b\>](`},
			{"文 \u202egnp.exe", "x", "application/octet-stream",
				"attachment; filename*=utf-8''%E6%96%87%20gnp.exe", "[文 gnp.exe]("},
			{"a\r\nX-Y: z", "x", "application/octet-stream", "attachment; filename=\"aX-Y: z\"",
				`[aX-Y\: z](`},
			{"..", "x", "application/octet-stream", "attachment; filename=file", "[file]("},
		} {
			made := attachmentSent(t, s, "rae", c.name, c.content)
			if made.Markdown != c.text+made.Path+")" || !strings.HasSuffix(made.URL, made.Path) {
				t.Errorf("%q gives %+v", c.name, made)
			}
			has := map[string]string{"Content-Type": c.kind, "Content-Disposition": c.disposition,
				"X-Content-Type-Options":  "nosniff",
				"Content-Security-Policy": sandbox,
				"Cache-Control":           "public, max-age=0, must-revalidate", "X-Y": "-",
				"Vary": "Accept, Accept-Encoding, Authorization, Cookie", "Accept-Ranges": "bytes"}
			a := s.Check(t, apitest.Case{Do: "GET " + made.Path, Status: 200, Body: c.content, Has: has,
				Headers: map[string]string{"Accept": "image/avif,image/webp,*/*;q=0.8"}})
			s.Check(t, apitest.Case{Do: "HEAD " + made.Path, As: "sam", Status: 200, Body: "-"})
			s.Check(t, apitest.Case{Do: "GET " + made.Path, Status: 304,
				Headers: map[string]string{"If-None-Match": a.Header.Get("Etag")}})
			s.Check(t, apitest.Case{Do: "GET " + made.Path, Status: 206, Body: c.content[:1],
				Headers: map[string]string{"Range": "bytes=0-0"}})
		}
	})
}

// Who does not see the repository gets what an absent attachment gives, and nobody else's rights help.
func TestRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, true)
		made := attachmentSent(t, s, "rae", "bed.png", png)
		absent := strings.Repeat("a", 26)
		for _, as := range []string{"sam", ""} {
			there := s.Check(t, apitest.Case{Do: "GET " + made.Path, As: as, Status: 404})
			gone := s.Check(t, apitest.Case{Do: "GET " + attachmentAt + "/" + absent, As: as, Status: 404})
			if !bytes.Equal(there.Body, gone.Body) {
				t.Errorf("%s, %s", there.Body, gone.Body)
			}
		}
		s.Repo(t, "sam/other", false)
		s.Check(t, apitest.Case{Do: "GET /sam/other/attachments/" + made.Key, Status: 404})
		a := s.Check(t, apitest.Case{Do: "GET " + made.Path, As: "rae", Status: 200, Body: png,
			Has: map[string]string{"Cache-Control": "private, max-age=0, must-revalidate"}})
		s.Check(t, apitest.Case{Do: "GET " + made.Path, As: "sam", Status: 404,
			Headers: map[string]string{"If-None-Match": a.Header.Get("Etag")}})
		s.Check(t, apitest.Case{Do: "GET " + made.Path, Status: 200, Body: png,
			Headers: map[string]string{"Cookie": "arbor_session=" + s.Session(t, "rae")},
			Has: map[string]string{"Cache-Control": "private, max-age=0, must-revalidate",
				"Access-Control-Allow-Origin":  "-",
				"Cross-Origin-Resource-Policy": "same-origin"}})

		s.Check(t, sending(t, "sam", "a", "x", 404))
		s.Check(t, sending(t, "", "a", "x", 401))
		foreign := sending(t, "", "a", "x", 403)
		foreign.Headers["Cookie"], foreign.Headers["Origin"] = "arbor_session="+s.Session(t, "rae"),
			"https://evil.example"
		s.Check(t, foreign)
		limited := sending(t, "", "a", "x", 403)
		limited.Headers["Authorization"] = "Bearer " + s.Scoped(t, "rae", "user")
		s.Check(t, limited)

		remove := func(as string, status int, made attachmentTold) {
			t.Helper()
			s.Visit(t, as, "POST "+made.Path+"/delete").Shows(t, status)
		}
		other := attachmentSent(t, s, "will", "a", "x")
		remove("sam", 404, made)
		remove("rae", 403, other)
		remove("will", 403, made)
		remove("rae", 303, made)
		remove("rae", 404, made)
		remove("alice", 303, other)
		leaves(t, s, 0)
		s.Check(t, apitest.Case{Do: "GET " + made.Path, As: "rae", Status: 404})

		attachmentSent(t, s, "rae", "a", "x")
		s.Visit(t, "alice", "GET /alice/garden/settings/attachments").Shows(t, 200, "1 file", "rae")
		s.Visit(t, "alice", "GET /alice/garden/settings/attachments?sort=size").Shows(t, 200, "Newest first")
		s.Visit(t, "will", "GET /alice/garden/settings/attachments").Shows(t, 403)
		s.Visit(t, "sam", "GET /alice/garden/settings/attachments").Shows(t, 404)
		s.Visit(t, "will", "GET "+attachmentAt).Shows(t, 200, "There are none")
		s.Visit(t, "rae", "GET "+attachmentAt).Shows(t, 200, "1 file", "[a](")
		s.Visit(t, "", "GET "+attachmentAt).Shows(t, 404)
	})
}

// A form without the script leads to the page with the Markdown, and says in words what is wrong.
func TestForm(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		c := sending(t, "rae", "bed.png", png, 303)
		c.Headers["Accept"], c.Has = apitest.Browser, map[string]string{"Location": attachmentAt}
		s.Check(t, c)
		s.Visit(t, "rae", "GET "+attachmentAt).Shows(t, 200, "[bed.png]("+attachmentAt+"/")
		c = sending(t, "rae", "a", "", 422)
		c.Headers["Accept"] = apitest.Browser
		s.Check(t, c).Shows(t, 422, "The file is empty.")
		c.Send, c.Headers["Content-Type"] = "--b--\r\n", "multipart/form-data; boundary=b"
		s.Check(t, c).Shows(t, 422, "Choose a file first.")
		c.Send, c.Headers["Content-Type"], c.Status = "a=b", "application/x-www-form-urlencoded", 415
		s.Check(t, c)
		c.Send, c.Headers["Content-Type"], c.Status =
			"--b\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nhalf",
			"multipart/form-data; boundary=b", 400
		s.Check(t, c)
		s.Visit(t, "", "GET "+attachmentAt).Shows(t, 303)
		leaves(t, s, 1)
	})
}

// A text shows attachments of this server, in the API as well, and no other address of it.
func TestInMarkdown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		made := attachmentSent(t, s, "rae", "a_b](x).png", png)
		body, err := json.Marshal(map[string]string{"title": "x", "body": made.Markdown + "\n\n![](/logout)"})
		testkit.NoError(t, err)
		s.Ask(t, "rae", "POST /repos/alice/garden/issues", string(body), 201)
		a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1", Status: 200,
			Headers: map[string]string{"Accept": "application/vnd.github.html+json"}})
		var issue struct {
			HTML string `json:"body_html"`
		}
		a.JSON(t, &issue)
		if want := `<img src="` + made.Path + `" alt="a_b](x).png"`; !strings.Contains(issue.HTML, want) ||
			strings.Contains(issue.HTML, "logout") {
			t.Errorf("%s", issue.HTML)
		}
	})
}

// The bounds: of a picture, of another file, of somebody who only reads; the quota of the owner. What is
// refused leaves nothing, and of many at once no more come in than may.
func TestBounds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		b := &s.Server.Forge().Attachments.Bounds
		b.Picture, b.Other, b.Bytes, b.Files = 1000, 2000, 5000, 4
		attachmentGarden(t, s, false)
		says := func(c apitest.Case, text string) {
			t.Helper()
			if a := s.Check(t, c); !strings.Contains(string(a.Body), text) {
				t.Errorf("%s, want %q", a.Body, text)
			}
		}
		x := strings.Repeat("x", 3000)
		says(sending(t, "will", "a.png", png+x[:1000], 422), "A picture may have at most 1000 bytes.")
		says(sending(t, "will", "a", x[:2001], 422), "A file may have at most 2000 bytes.")
		leaves(t, s, 0)
		for range 5 {
			attachmentSent(t, s, "will", "a", x[:2000])
		}
		attachmentSent(t, s, "rae", "a", x[:2000])
		attachmentSent(t, s, "rae", "a", x[:2000])
		says(sending(t, "rae", "a", x[:1001], 422),
			"Your files in this repository may have at most 5000 bytes.")
		made := attachmentSent(t, s, "rae", "a", "x")
		codes := make(chan int, 8)
		for range cap(codes) {
			c := sending(t, "rae", "a", "x", 0)
			go func() { codes <- s.Do(t, c).Status }()
		}
		came := 0
		for range cap(codes) {
			if code := <-codes; code == 201 {
				came++
			} else if code != 422 {
				t.Errorf("status %d", code)
			}
		}
		if came != 1 {
			t.Errorf("%d came in, want 1", came)
		}
		says(sending(t, "rae", "a", "x", 422), "You may have at most 4 files in this repository.")
		s.Visit(t, "rae", "POST "+made.Path+"/delete").Shows(t, 303)
		attachmentSent(t, s, "rae", "a", "x")
	})
}

// An archived repository shows its attachments, and takes and loses none.
func TestArchived(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		made := attachmentSent(t, s, "rae", "a", "x")
		s.Ask(t, "alice", "PATCH /repos/alice/garden", `{"archived": true}`, 200)
		s.Check(t, sending(t, "will", "a", "x", 403))
		s.Visit(t, "rae", "POST "+made.Path+"/delete").Shows(t, 403)
		s.Visit(t, "rae", "GET "+attachmentAt).Shows(t, 200, "archived", "!Upload")
		s.Check(t, apitest.Case{Do: "GET " + made.Path, Status: 200})
	})
}

// Quotas hold for attachments, those of people who only read their own, and for a body that does not say its
// length. A body that is sent slowly, or in malformed chunks, is the client's fault and leaves nothing.
func TestQuotaAndBrokenBodies(t *testing.T) {
	t.Parallel()
	two, four := int64(2), int64(4)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		x := strings.Repeat("x", 5<<10)
		s.Check(t, sending(t, "rae", "a", x, 403))
		leaves(t, s, 0)
		made := attachmentSent(t, s, "rae", "a", x[:4<<10])
		s.Check(t, sending(t, "rae", "a", "x", 403))
		s.Visit(t, "rae", "POST "+made.Path+"/delete").Shows(t, 303)
		const head = "--b\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n"
		for _, c := range []struct{ rest, want string }{
			{"Transfer-Encoding: chunked\r\n\r\n" + chunk(head+x), " 403 "}, // and more would come
			{"Transfer-Encoding: chunked\r\n\r\n" + chunk(head+"half") + "xyz\r\n", " 400 "},
			{"Content-Length: 1000\r\n\r\n" + head + "half", " 4"}, // and hangs up
			{"Content-Length: 20\r\n\r\n" + head + "half\r\n--b--\r\n", " 400 "},
		} {
			if status := raw(t, s, c.rest); !strings.Contains(status, c.want) {
				t.Errorf("%q is answered with %q", c.rest[:40], status)
			}
		}
		leaves(t, s, 0)
	}, func(o *server.Options) { o.Quota = account.Quota{Repos: &two, KB: &four} })
}

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// raw sends an upload of rae's as it stands, and gives the status line of the answer.
func raw(t *testing.T, s *apitest.Server, rest string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.Address)
	testkit.NoError(t, err)
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=b\r\n%s",
		attachmentAt, s.Token(t, "rae"), rest)
	if !strings.HasSuffix(rest, "x\r\n") {
		c.(*net.TCPConn).CloseWrite()
	}
	status, _ := bufio.NewReader(c).ReadString('\n')
	return status
}
