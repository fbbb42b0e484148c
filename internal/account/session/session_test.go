package session

import (
	"errors"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
)

// Who takes an account back, by another password, by signing out everywhere else or by a suspension, ends
// what was allowed in its name and not taken yet.
func TestDeviceFlowEndsWithSessions(t *testing.T) {
	t.Parallel()
	const client = "178c6fc778ccc68e1d6a"
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		accounts, s := servicesOn(dbtest.Open(t, engine))
		ctx, callers := t.Context(), map[string]*account.Caller{}
		for _, login := range []string{"alice", "siteadmin"} {
			a, err := accounts.CreateUser(ctx, account.NewUser{Login: login, Admin: login == "siteadmin"})
			if err != nil {
				t.Fatal(err)
			}
			callers[login] = &account.Caller{ID: a.ID, Login: login, Session: true, SiteAdmin: a.SiteAdmin}
		}
		for name, end := range map[string]func() error{
			"another password": func() error { return s.SetPassword(ctx, "alice", "another secret", nil) },
			"signing out":      func() error { return s.EndOtherSessions(ctx, callers["alice"]) },
			"a suspension": func() error {
				if _, err := accounts.Suspend(ctx, callers["siteadmin"], "alice"); err != nil {
					return err
				}
				_, err := accounts.Unsuspend(ctx, callers["siteadmin"], "alice")
				return err
			},
		} {
			codes, err := s.tokens.AskDevice(ctx, token.DeviceAsk{Client: client, Scopes: scope.Repo})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.tokens.ConfirmDevice(ctx, callers["alice"], codes.User, ""); err != nil {
				t.Fatal(err)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			var refused *token.OAuthError
			_, err = s.tokens.TakeDevice(ctx, client, codes.Device, "")
			if !errors.As(err, &refused) || refused.Code != "access_denied" {
				t.Errorf("after %s the program is told %v", name, err)
			}
		}
	})
}
