package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// attachmentSee has the status for each caller of an attachment by rae: alice, the owner; will, a writer;
// rae, a reader; sam, a stranger; anonymous.
type attachmentSee map[string]int

// attachmentTransitions are those of the package's comment.
var attachmentTransitions = []struct {
	name     string
	private  bool // it is before
	do       []apitest.Case
	sees     attachmentSee
	at       string // the repository afterwards; "": as before
	uploader string // as administrators see it; "": the attachment is gone
}{
	{name: "turned private", do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"private": true}`, Status: 200}},
		sees: attachmentSee{"alice": 200, "will": 200, "rae": 200, "sam": 404, "": 404}, uploader: "rae"},
	{name: "turned public", private: true,
		do:   []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200}},
		sees: attachmentSee{"alice": 200, "will": 200, "rae": 200, "sam": 200, "": 200}, uploader: "rae"},
	{name: "renamed", private: true, do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"name": "beds"}`, Status: 200},
		{Do: "GET {path}", As: "rae", Status: 301}, {Do: "GET {path}", As: "sam", Status: 404}},
		sees: attachmentSee{"alice": 200, "will": 200, "rae": 200, "sam": 404, "": 404}, at: "alice/beds",
		uploader: "rae"},
	{name: "transferred", private: true,
		do: []apitest.Case{{Do: "POST /repos/alice/garden/transfer", As: "chief",
			Send: `{"new_owner": "sam"}`, Status: 202},
			{Do: "GET {path}", As: "rae", Status: 301}},
		sees: attachmentSee{"will": 200, "rae": 200, "sam": 200, "": 404}, at: "sam/garden", uploader: "rae"},
	{name: "forked", do: []apitest.Case{{Do: "PUT /repos/alice/garden/contents/a", As: "alice",
		Send: `{"message": "a", "content": "YQ=="}`, Status: 201},
		{Do: "POST /repos/alice/garden/forks", As: "sam", Status: 202},
		{Do: "GET /sam/garden/attachments/{key}", As: "sam", Status: 404}},
		sees: attachmentSee{"alice": 200, "sam": 200, "": 200}, uploader: "rae"},
	{name: "issue transferred", private: true,
		do: []apitest.Case{{Do: "POST /repos/alice/garden/issues", As: "alice",
			Send: `{"title": "x", "body": "{markdown}"}`, Status: 201},
			{Do: "POST /user/repos", As: "alice", Send: `{"name": "yard", "private": true}`, Status: 201}},
		sees: attachmentSee{"alice": 200, "rae": 200, "sam": 404}, uploader: "rae"},
	{name: "reader gone", private: true,
		do:   []apitest.Case{{Do: "DELETE /repos/alice/garden/collaborators/rae", As: "alice", Status: 204}},
		sees: attachmentSee{"alice": 200, "will": 200, "rae": 404, "sam": 404, "": 404}, uploader: "rae"},
	{name: "suspended", do: []apitest.Case{{Do: "PUT /users/rae/suspended", As: "chief", Status: 204}},
		sees: attachmentSee{"alice": 200, "rae": 403, "sam": 200, "": 200}, uploader: "rae"},
	{name: "account deleted", do: []apitest.Case{{Do: "DELETE /admin/users/rae", As: "chief", Status: 204}},
		sees: attachmentSee{"alice": 200, "rae": 401, "sam": 200, "": 200}, uploader: "ghost"},
	{name: "repository deleted", do: []apitest.Case{{Do: "DELETE /repos/alice/garden", As: "alice",
		Status: 204}},
		sees: attachmentSee{"alice": 404, "will": 404, "rae": 404, "sam": 404, "": 404}},
}

// Whatever happens to a repository, its attachments are for those who see it then, also by what was kept
// before.
func TestAttachmentTransitions(t *testing.T) {
	t.Parallel()
	for _, row := range attachmentTransitions {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				attachmentGarden(t, s, row.private)
				made := attachmentSent(t, s, "rae", "bed.png", png)
				tag := s.Check(t, apitest.Case{Do: "GET " + made.Path, As: "rae",
					Status: 200}).Header.Get("Etag")
				fill := strings.NewReplacer("{path}", made.Path, "{key}", made.Key, "{markdown}",
					made.Markdown)
				for _, c := range row.do {
					c.Do, c.Send = fill.Replace(c.Do), fill.Replace(c.Send)
					s.Check(t, c)
				}
				if row.name == "issue transferred" {
					s.Visit(t, "alice", "POST /alice/garden/issues/1/transfer", "to",
						"alice/yard").Shows(t, 303)
					s.Check(t, apitest.Case{Do: "GET /repos/alice/yard/issues/1", As: "alice", Status: 200,
						Want: `{"body": "` + made.Markdown + `"}`})
					s.Ask(t, "alice", "GET /alice/yard/attachments/"+made.Key, "", 404)
				}
				at := row.at
				if at == "" {
					at = "alice/garden"
				}
				path := "/" + at + "/attachments/" + made.Key
				for as, status := range row.sees {
					s.Check(t, apitest.Case{Do: "GET " + path, As: as, Status: status})
					known := status
					if status == 200 {
						known = 304
					}
					s.Check(t, apitest.Case{Do: "GET " + path, As: as, Status: known,
						Headers: map[string]string{"If-None-Match": tag}})
				}
				if row.uploader != "" {
					s.Visit(t, "chief", "GET /"+at+"/settings/attachments").Shows(t, 200, "bed.png",
						row.uploader, path)
				} else {
					leaves(t, s, 0)
				}
				sound(t, s)
			})
		})
	}
}
