package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
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

// owned is how many KiB count in somebody's quota.
func owned(t *testing.T, s *apitest.Server, login string) (kb int64) {
	t.Helper()
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		a, err := account.ByLogin(tx, login)
		if err == nil {
			kb, err = account.OwnedKB(tx, a.ID)
		}
		return err
	})
	testkit.NoError(t, err)
	return kb
}

func setKB(t *testing.T, s *apitest.Server, login string, kb int64) {
	t.Helper()
	if _, _, _, err := s.Accounts.EditQuota(t.Context(), nil, account.User, login,
		func(q *account.Quota) { q.KB = &kb }); err != nil {
		t.Fatal(err)
	}
}

// Attachments uploaded without push access count for the uploader's quota. Otherwise a stranger could use
// up the owner's quota with ten uploads.
func TestStrangersUploadsAreTheirOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		attachmentGarden(t, s, false)
		setKB(t, s, "alice", 30)
		setKB(t, s, "sam", 20)
		file := strings.Repeat("x", 8<<10)
		made := attachmentSent(t, s, "sam", "a.txt", file)
		attachmentSent(t, s, "sam", "b.txt", file)
		if a := s.Check(t, sending(t, "sam", "c.txt", file, 403)); !strings.Contains(string(a.Body), "of sam may") {
			t.Errorf("%s", a.Body)
		}
		if alice, sam := owned(t, s, "alice"), owned(t, s, "sam"); alice != 0 || sam != 16 {
			t.Errorf("alice has %d KiB, sam %d", alice, sam)
		}
		attachmentSent(t, s, "will", "d.txt", strings.Repeat("x", 20<<10)) // has push access
		s.Check(t, sending(t, "will", "e.txt", strings.Repeat("x", 20<<10), 403))
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/f", `{"message": "m", "content": "eA=="}`, 201)
		s.Visit(t, "sam", "POST "+attachmentAt+"/"+made.Key+"/delete").Shows(t, 303)
		if sam := owned(t, s, "sam"); sam != 8 {
			t.Errorf("sam has %d KiB", sam)
		}
		sound(t, s)
	})
}

// A file counts for the same account as at its upload, also after changes of rights and of the repository.
// When its uploader is deleted, it counts for the owner.
func TestWhoPaysAfterTransitions(t *testing.T) {
	t.Parallel()
	const toSam = `{"new_owner": "sam"}`
	for _, row := range []struct {
		name string
		do   apitest.Case
		want map[string]int64 // KiB; before, rae (without push access) has 8 and alice will's 16
		soon bool             // it takes a moment
	}{
		{name: "gets push", do: apitest.Case{Do: "PUT /repos/alice/garden/collaborators/rae", As: "alice",
			Send: `{"permission": "push"}`, Status: 204}, want: map[string]int64{"alice": 16, "rae": 8}},
		{name: "loses push", do: apitest.Case{Do: "DELETE /repos/alice/garden/collaborators/will", As: "alice",
			Status: 204}, want: map[string]int64{"alice": 16, "will": 0, "rae": 8}},
		{name: "reader gone", do: apitest.Case{Do: "DELETE /repos/alice/garden/collaborators/rae", As: "alice",
			Status: 204}, want: map[string]int64{"alice": 16, "rae": 8}},
		{name: "transferred", do: apitest.Case{Do: "POST /repos/alice/garden/transfer", As: "chief", Send: toSam,
			Status: 202}, want: map[string]int64{"alice": 0, "sam": 16, "rae": 8}},
		{name: "transferred to the uploader", do: apitest.Case{Do: "POST /repos/alice/garden/transfer", As: "chief",
			Send: `{"new_owner": "rae"}`, Status: 202}, want: map[string]int64{"alice": 0, "rae": 24}},
		{name: "suspended", do: apitest.Case{Do: "PUT /users/rae/suspended", As: "chief", Status: 204},
			want: map[string]int64{"alice": 16, "rae": 8}},
		{name: "uploader deleted", do: apitest.Case{Do: "DELETE /admin/users/rae", As: "chief", Status: 204},
			want: map[string]int64{"alice": 24}},
		{name: "repository deleted", do: apitest.Case{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204},
			want: map[string]int64{"alice": 16, "rae": 0}, soon: true}, // until the folder is gone
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				attachmentGarden(t, s, false)
				attachmentSent(t, s, "rae", "a.txt", strings.Repeat("x", 8<<10))
				attachmentSent(t, s, "will", "b.txt", strings.Repeat("x", 16<<10))
				s.Check(t, row.do)
				holds := func() bool {
					for login, kb := range row.want {
						if owned(t, s, login) != kb {
							return false
						}
					}
					return true
				}
				if row.soon {
					testkit.Eventually(t, holds, "what counts")
				}
				if !holds() {
					t.Errorf("alice has %d KiB, sam %d", owned(t, s, "alice"), owned(t, s, "sam"))
				}
				sound(t, s)
			})
		})
	}
}
