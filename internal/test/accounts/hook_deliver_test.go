package accounts_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

const garden = "/repos/alice/garden"

// A team's bot hears of what happens in a repository, in order, signed, and in the form that it asked for.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		repo := s.Repo(t, "alice/garden", true)
		s.Import(t, repo, gittest.Repository(t, 3, 2))
		r := receive(t, nil)
		hookOn(t, s, garden, "alice", r, `["*"]`)
		told(t, s, r, apitest.Case{Do: "POST " + garden + "/issues", As: "alice",
			Send: `{"title": "Slugs", "labels": ["bug"]}`, Status: 201},
			"issues.opened issues.labeled")
		got := told(t, s, r, apitest.Case{Do: "PUT " + garden + "/contents/peas", As: "alice", Status: 201,
			Send: `{"message": "Sow peas", "content": "eA==", "committer": {"name": "Al", "email": "al@example.com",
				"date": "2026-03-01T07:08:09Z"}}`}, "push")[0]
		isSigned(t, got)
		if err := apitest.Contains(got.Body,
			`{"ref": "refs/heads/main", "created": false, "deleted": false, "forced": false,
			"commits": [{"message": "Sow peas", "timestamp": "2026-03-01T07:08:09Z", "added": ["peas"], "removed": [], "modified": []}],
			"head_commit": {"message": "Sow peas"}, "pusher": {"name": "alice"}, "sender": {"login": "alice"},
			"repository": {"full_name": "alice/garden", "private": true}}`); err != nil {
			t.Errorf("%v\n%s", err, got.Body)
		}
		form := receive(t, nil)
		s.Check(t, apitest.Case{Do: "POST " + garden + "/hooks", As: "alice", Status: 201,
			Send: `{"config": {"url": "` + form.URL + `"}, "events": ["issues"]}`})
		ping := form.wait(t, 1)[0]
		values, err := url.ParseQuery(string(ping.Body))
		if err != nil || apitest.Contains([]byte(values.Get("payload")),
			`{"zen": "$any", "hook": {"config": {"content_type": "form"}}}`) != nil {
			t.Errorf("the form is %q: %v", ping.Body, err)
		}
		if ping.Header.Get("X-Hub-Signature-256") != "" {
			t.Error("a hook without a secret signs")
		}
		s.Check(t, apitest.Case{Do: "POST " + garden + "/hooks", As: "alice", Status: 201,
			Send: `{"config": {"url": "` + form.URL + `/signed", "secret": "peas"}, "events": ["issues"]}`})
		isSigned(t, form.wait(t, 2)[1])
	})
}

// isSigned fails the test if a delivery is not signed with the secret of hookOn, over the bytes of its body
// in any form.
func isSigned(t *testing.T, d *sent) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte("peas"))
	mac.Write(d.Body)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if got := d.Header.Get("X-Hub-Signature-256"); got != want {
		t.Errorf("the signature is %q, want %q", got, want)
	}
}
