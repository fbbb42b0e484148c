//go:build long

package clients

import (
	"crypto/ed25519"
	"errors"
	"net/http"
	"slices"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
	"golang.org/x/crypto/ssh"
)

// An administrator of the site makes accounts, gives them other names, and ends their use.
func siteAdministration(t *testing.T, h *hub) {
	ctx := t.Context()
	h.Admin(t, "chief")
	chief := h.as(t, "chief")
	made := got[*github.User](t)(chief.Admin.CreateUser(ctx,
		github.CreateUserRequest{Login: "lily", Email: github.Ptr("lily@example.org")}))
	equal(t, "the new user", made.GetLogin(), "lily")
	h.User(t, "rose")
	rosa := h.as(t, "rose") // soon
	org := got[*github.Organization](t)(chief.Admin.CreateOrg(ctx,
		&github.Organization{Login: github.Ptr("garden")}, "rose"))
	equal(t, "the new organization", org.GetLogin(), "garden")

	_, _, err := chief.Admin.RenameOrgByName(ctx, "garden", "orchard")
	accepted(t, err)
	equal(t, "the same organization",
		got[*github.Organization](t)(chief.Organizations.Get(ctx, "orchard")).GetID(), org.GetID())
	rename, err := chief.NewRequest(ctx, http.MethodPatch, "admin/users/rose",
		map[string]string{"login": "rosa"})
	testkit.NoError(t, err)
	_, err = chief.Do(rename, nil)
	accepted(t, err)

	done(t)(chief.Users.PromoteSiteAdmin(ctx, "rosa"))
	equal(t, "promoted", got[*github.User](t)(rosa.Users.Get(ctx, "")).GetSiteAdmin(), true)
	done(t)(chief.Users.DemoteSiteAdmin(ctx, "rosa"))
	done(t)(chief.Users.Suspend(ctx, "rosa", nil))
	_, _, err = rosa.Users.Get(ctx, "")
	refused(t, err, http.StatusForbidden, "", "")
	done(t)(chief.Users.Unsuspend(ctx, "rosa"))
	equal(t, "back", got[*github.User](t)(rosa.Users.Get(ctx, "")).GetLogin(), "rosa")

	public, _, err := ed25519.GenerateKey(nil)
	testkit.NoError(t, err)
	text, err := ssh.NewPublicKey(public)
	testkit.NoError(t, err)
	key := got[*github.Key](t)(rosa.Users.CreateKey(ctx,
		&github.Key{Title: github.Ptr("laptop"), Key: github.Ptr(string(ssh.MarshalAuthorizedKey(text)))}))
	var keys []*github.Key
	listed, err := chief.NewRequest(ctx, http.MethodGet, "admin/keys?per_page=100", nil)
	testkit.NoError(t, err)
	_, err = chief.Do(listed, &keys)
	if is := func(k *github.Key) bool { return k.GetID() == key.GetID() }; err != nil ||
		!slices.ContainsFunc(keys, is) {
		t.Errorf("all keys: %v, %v", keys, err)
	}

	_, err = chief.Admin.DeleteUser(ctx, "rosa") // the organization would be nobody's
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("the last owner of an organization was deleted: %v", err)
	}
	log, _, err := rosa.Organizations.GetAuditLog(ctx, "orchard",
		&github.GetAuditLogOptions{Phrase: github.Ptr("action:org.rename")})
	if err != nil || len(log) != 1 || log[0].GetActor() != "chief" || log[0].Data["old_login"] != "garden" ||
		log[0].GetCreatedAt().IsZero() {
		t.Errorf("the organization's audit log: %v, %v", log, err)
	}
	all, err := chief.NewRequest(ctx, http.MethodGet,
		"admin/audit-log?phrase=actor:chief+action:user.suspend", nil)
	testkit.NoError(t, err)
	if _, err = chief.Do(all, &log); err != nil || len(log) != 1 || log[0].GetUser() != "rosa" {
		t.Errorf("the audit log of all: %v, %v", log, err)
	}
	done(t)(chief.Admin.DeleteUser(ctx, "lily"))
	_, _, err = chief.Users.Get(ctx, "lily")
	refused(t, err, http.StatusNotFound, "", "")
}

// accepted takes the error that go-github makes of a 202.
func accepted(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*github.AcceptedError](err); !ok {
		t.Fatalf("%v, want 202", err)
	}
}
