package repos_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A webhook of the source that knows the secret has the mirror look at it; nobody else learns anything.
func TestMirrorWebhook(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newMirrored(t, s)
		s.Repo(t, "alice/copy", true)
		const path = "/repos/alice/copy"
		set := fmt.Sprintf(`{"remote_url":"%s/alice/source.git","username":"alice","password":%q,"interval":86400}`, s.URL,
			s.Token(t, "alice"))
		s.Run(t, []apitest.Case{
			{Do: "POST " + path + "/mirror/secret", As: "alice", Status: 404}, // it is no mirror
			{Do: "PUT " + path + "/mirror", As: "alice", Send: set, Status: 201, Want: `{"has_webhook_secret": false}`},
			{Do: "POST " + path + "/mirror/secret", As: "bob", Status: 404},
		})
		w.copied(t, path+"/mirror")
		var made struct {
			Secret  string
			HookURL string `json:"hook_url"`
		}
		create := func() {
			s.Check(t, apitest.Case{Do: "POST " + path + "/mirror/secret", As: "alice", Status: 201}).JSON(t, &made)
		}
		create()
		var stored string
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT secret FROM mirror_secrets`).Scan(&stored)
		}))
		shown := s.Check(t, apitest.Case{Do: "GET " + path + "/mirror", As: "alice", Status: 200,
			Want: `{"has_webhook_secret": true}`})
		if strings.Contains(stored, made.Secret) || strings.Contains(string(shown.Body), made.Secret) {
			t.Error("the secret is stored or shown")
		}

		const body = `{"ref":"refs/heads/main"}`
		signed := func(body string) string {
			mac := hmac.New(sha256.New, []byte(made.Secret))
			mac.Write([]byte(body))
			return hex.EncodeToString(mac.Sum(nil))
		}
		deliver := func(why string, status int, header, value string) {
			t.Helper()
			s.Run(t, []apitest.Case{{Name: why, Do: "POST " + path + "/mirror-hook", Send: body, Status: status,
				Headers: map[string]string{header: value}}})
		}
		deliver("no proof", 404, "X-GitHub-Event", "push")
		deliver("another body", 404, "X-Hub-Signature-256", "sha256="+signed("{}"))
		deliver("a part", 404, "X-Hub-Signature-256", "sha256="+signed(body)[:20])
		deliver("no signature", 404, "X-Gitea-Signature", "")
		deliver("another secret", 404, "X-Gitlab-Token", made.Secret+"x")
		for header, value := range map[string]string{"X-Hub-Signature-256": "sha256=" + signed(body),
			"X-Gitea-Signature": signed(body), "X-Gitlab-Token": made.Secret} {
			before := w.now(t, path+"/mirror")
			deliver(header, 204, header, value)
			w.ran(t, path+"/mirror", before)
		}
		s.Run(t, []apitest.Case{{Do: "POST /repos/alice/source/mirror-hook", Send: body, Status: 404,
			Headers: map[string]string{"X-Gitlab-Token": made.Secret}}})

		for _, kind := range []string{"json", "form"} { // by the source itself
			var hook struct{ ID int64 }
			s.Check(t, apitest.Case{Do: "POST /repos/alice/source/hooks", As: "alice", Status: 201, Send: fmt.Sprintf(
				`{"config":{"url":%q,"content_type":%q,"secret":%q},"events":["push"]}`, made.HookURL, kind, made.Secret)}).JSON(t, &hook)
			w.commit(t, kind)
			gittest.Run(t, w.dir, "push", "-q", "origin", "main")
			testkit.Eventually(t, func() bool { return w.refs(t, "alice/copy") == w.refs(t, "alice/source") }, "it follows")
			s.Ask(t, "alice", fmt.Sprint("DELETE /repos/alice/source/hooks/", hook.ID), "", 204)
		}

		s.Ask(t, "alice", "PATCH "+path, `{"name":"copy2"}`, 200)
		deliver("the former name", 204, "X-Gitlab-Token", made.Secret)
		s.Ask(t, "alice", "PATCH /repos/alice/copy2", `{"name":"copy","archived":true}`, 200)
		deliver("archived", 403, "X-Gitlab-Token", made.Secret)
		s.Ask(t, "alice", "PATCH "+path, `{"archived":false}`, 200)
		former := made.Secret
		create()
		deliver("a former secret", 404, "X-Gitlab-Token", former)
		deliver("the new one", 204, "X-Gitlab-Token", made.Secret)
		s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "alice", Send: set, Status: 200,
			Want: `{"has_webhook_secret": true}`}})
		deliver("set up again", 204, "X-Gitlab-Token", made.Secret)
		s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "alice", Send: strings.Replace(set, "source", "other", 1),
			Status: 200, Want: `{"has_webhook_secret": false}`}})
		deliver("of another source", 404, "X-Gitlab-Token", made.Secret)
		create()
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			// the run of the change before may still end
			return tx.Run(`UPDATE mirrors SET active = FALSE, version = version + 1`)
		}))
		deliver("stopped", 422, "X-Gitlab-Token", made.Secret)
		s.Ask(t, "alice", "DELETE "+path+"/mirror/secret", "", 204)
		deliver("removed", 404, "X-Gitlab-Token", made.Secret)
		create()
		s.Ask(t, "alice", "DELETE "+path+"/mirror", "", 204)
		s.Ask(t, "alice", "PUT "+path+"/mirror", set, 201)
		deliver("of a former mirror", 404, "X-Gitlab-Token", made.Secret)
	})
}

// A repository that is copied once is an ordinary one as soon as that has succeeded.
func TestImportOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newMirrored(t, s)
		s.Repo(t, "alice/copy", false)
		const path = "/repos/alice/copy"
		set := func(password string) string {
			return fmt.Sprintf(`{"remote_url":"%s/alice/source.git","username":"alice","password":%q,"once":true}`, s.URL, password)
		}
		s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "alice", Send: set("wrongwrong"), Status: 201, Want: `{"once": true}`}})
		if got := w.ran(t, path+"/mirror", state{}); got.problem() != "it wants other credentials" {
			t.Errorf("%+v", got)
		}
		if _, said, err := gittest.Try(t, w.dir, nil, "push", s.Remote(t, "alice", "alice/copy"), "main:new"); err == nil {
			t.Errorf("a push before it is copied: %s", said)
		}
		s.Ask(t, "alice", "PUT "+path+"/mirror", set(s.Token(t, "alice")), 200)
		testkit.Eventually(t, func() bool {
			return strings.TrimSpace(string(s.Ask(t, "alice", "GET "+path+"/mirror", "", 200).Body)) == "null"
		}, "it is no mirror any more")
		if a, b := w.refs(t, "alice/copy"), w.refs(t, "alice/source"); a != b {
			t.Errorf("the copy has\n%s\nits source\n%s", a, b)
		}
		s.Run(t, []apitest.Case{{Do: "GET " + path, Status: 200, Want: `{"mirror_url": null}`}})
		gittest.Run(t, w.dir, "push", "-q", s.Remote(t, "alice", "alice/copy"), "main:new")
	})
}
