package token

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
)

const ghClient = "178c6fc778ccc68e1d6a"

// age moves all times of the requests back.
func (b *bundle) age(seconds int64) {
	b.t.Helper()
	err := b.db.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE device_requests SET asked_at = asked_at - $1, expires_at = expires_at - $1`,
			seconds*1e6)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// askDevice asks for codes as gh does, and gives the answer's members.
func (b *bundle) askDevice(scopes string) url.Values {
	b.t.Helper()
	w := b.do("", "POST", "/login/device/code",
		url.Values{"client_id": {ghClient}, "scope": {scopes}}.Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
	v, err := url.ParseQuery(w.Body.String())
	if err != nil || w.Code != 200 || w.Header().Get("Cache-Control") != "no-store" {
		b.t.Fatalf("codes: %d %s %v", w.Code, w.Body, w.Header())
	}
	return v
}

// poll asks for the token, by JSON, and gives the answer's members.
func (b *bundle) poll(code string) map[string]any {
	b.t.Helper()
	w := b.do("", "POST", "/login/oauth/access_token",
		url.Values{"client_id": {ghClient}, "device_code": {code},
			"grant_type": {deviceGrant}}.Encode(), "Accept", "application/json")
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 {
		b.t.Fatalf("token: %d %s", w.Code, w.Body)
	}
	return out
}

func (b *bundle) wantPoll(code, want string) {
	b.t.Helper()
	if got := b.poll(code)["error"]; got != want {
		b.t.Errorf("the program is told %v, want %s", got, want)
	}
}

// A person signs gh in without copying a token: the code is confirmed once, and gives one token with the
// scopes asked for.
func TestDeviceFlow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		alice := b.user("alice")
		ctx, caller := context.Background(), &account.Caller{ID: alice.ID, Login: "alice", Session: true}
		codes := b.askDevice("repo read:org gist")
		device, code := codes.Get("device_code"), codes.Get("user_code")
		if len(device) != 40 || len(code) != 9 || codes.Get("expires_in") != "900" ||
			codes.Get("interval") != "5" ||
			codes.Get("verification_uri") != "http://arbor.test/login/device" {
			t.Fatalf("codes: %v", codes)
		}
		b.wantPoll(device, "authorization_pending")
		b.age(-60) // the next questions are hasty, also on a busy machine
		b.wantPoll(device, "slow_down")
		b.age(-60)
		if pause := b.poll(device)["interval"]; pause != float64(15) {
			t.Errorf("after two hasty questions the pause is %v seconds, want 15", pause)
		}
		b.age(16)
		b.wantPoll(device, "authorization_pending")
		typed := strings.ToLower(strings.ReplaceAll(code, "-", " "))
		found, err := b.s.FindDevice(ctx, caller, typed)
		if err != nil || found.Client != "GitHub CLI" || found.Scopes.String() != "repo, read:org, gist" {
			t.Fatalf("what is confirmed: %+v, %v", found, err)
		}
		if _, err := b.s.ConfirmDevice(ctx, caller, code, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := b.s.ConfirmDevice(ctx, caller, code, ""); !errs.Is(err, errs.NotFound) {
			t.Errorf("the code serves twice: %v", err)
		}
		got := b.poll(device)
		token, _ := got["access_token"].(string)
		if got["token_type"] != "bearer" || got["scope"] != "repo,read:org,gist" {
			t.Errorf("the token: %v", got)
		}
		if c := wantCaller(t, b.s, "the token", "token "+token, "alice"); c.Grant.Scopes != mustScopes(t,
			"repo read:org gist") {
			t.Errorf("it may %s", c.Grant.Scopes)
		}
		b.wantPoll(device, "incorrect_device_code")
		if stored := b.stored(); strings.Contains(stored, token) || strings.Contains(stored, device) ||
			strings.Contains(stored, code) {
			t.Error("a code or the token stands in the database as it is")
		}
		events, _, err := b.accounts.Events(ctx, mustPhrase(t, "action:oauth_authorization.create"), 10)
		if err != nil || len(events) != 1 || events[0].User.Name != "alice" {
			t.Errorf("the audit log: %+v, %v", events, err)
		}
	})
}

// A denied or expired code, one of another program, and a caller without the right get no token.
func TestDeviceFlowRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		ctx := context.Background()
		caller := &account.Caller{ID: b.user("alice").ID, Login: "alice", Session: true}
		denied := b.askDevice("repo")
		if _, err := b.s.DenyDevice(ctx, caller, denied.Get("user_code")); err != nil {
			t.Fatal(err)
		}
		b.wantPoll(denied.Get("device_code"), "access_denied")

		late := b.askDevice("repo")
		b.age(901)
		b.wantPoll(late.Get("device_code"), "expired_token")
		if _, err := b.s.ConfirmDevice(ctx, caller, late.Get("user_code"), ""); !errs.Is(err, errs.NotFound) {
			t.Errorf("an expired code: %v", err)
		}
		b.wantPoll(strings.Repeat("0", 40), "incorrect_device_code")
		b.wantPoll("", "incorrect_device_code")

		gone := b.askDevice("repo")
		if _, err := b.s.ConfirmDevice(ctx, caller, gone.Get("user_code"), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := b.accounts.Suspend(ctx, &account.Caller{ID: b.user("siteadmin").ID, Login: "siteadmin",
			SiteAdmin: true}, "alice"); err != nil {
			t.Fatal(err)
		}
		b.wantPoll(gone.Get("device_code"), "access_denied")

		limited := &account.Caller{ID: caller.ID, Login: "alice", Session: true, Grant: &account.Grant{Scopes: scope.Repo}}
		for _, c := range []*account.Caller{nil, limited, {ID: caller.ID, App: 7}, {ID: caller.ID, KeyID: 7},
			{ID: caller.ID, Login: "alice"},
			{ID: caller.ID, Login: "alice", Session: true, ByToken: true}} {
			if _, err := b.s.ConfirmDevice(ctx, c, b.askDevice("repo").Get("user_code"), ""); !errs.Is(err,
				errs.Forbidden) {
				t.Errorf("%+v confirmed a code: %v", c, err)
			}
		}
		b.steps([]step{
			{"", "POST", "/login/device/code", "client_id=else&scope=repo", 404, "Not Found"},
			{"", "POST", "/login/device/code", "client_id=" + ghClient + "&scope=everything", 200,
				"error=invalid_scope"},
			{"", "POST", "/login/device/code", "client_id=b895675a4e2cf54d5c6c&scope=repo+gist+workflow", 200, // git-credential-oauth
				"user_code="},
			{"", "POST", "/login/device/code", "client_id=%zz", 400, "form-encoded"},
			{"", "POST", "/login/oauth/access_token",
				"client_id=else&device_code=1&grant_type=" + url.QueryEscape(deviceGrant), 200,
				"error=incorrect_client_credentials"},
			{"", "POST", "/login/oauth/access_token", "client_id=" + ghClient + "&code=1", 200,
				"error=incorrect_client_credentials"},
			{"", "POST", "/login/oauth/access_token", "client_id=" + ghClient + "&grant_type=password", 200,
				"error=unsupported_grant_type"},
		})
	})
}

// The bounds hold for those, too, who ask for everything at one moment.
func TestDeviceFlowIsBoundedInParallel(t *testing.T) {
	t.Parallel()
	const parallel = 150
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		ctx := context.Background()
		alice := &account.Caller{ID: b.user("alice").ID, Login: "alice", Session: true}
		for name, c := range map[string]struct {
			most int
			is   errs.Kind // of what is within the bound; 0: no error
			try  func() error
		}{
			"codes of a network": {maxOfNetwork, 0, func() error {
				_, err := b.s.AskDevice(ctx, DeviceAsk{Client: ghClient, Network: "192.0.2.1/32"})
				return err
			}},
			"wrong codes of a person": {maxMisses, errs.NotFound, func() error {
				_, err := b.s.FindDevice(ctx, alice, "BBBB-BBBB")
				return err
			}},
		} {
			var within, beyond atomic.Int64
			var wait sync.WaitGroup
			for range parallel {
				wait.Go(func() {
					switch err := c.try(); {
					case errs.Is(err, errs.TooManyRequests):
						beyond.Add(1)
					case err == nil && c.is == 0 || c.is != 0 && errs.Is(err, c.is):
						within.Add(1)
					default:
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			wait.Wait()
			if within.Load() != int64(c.most) || beyond.Load() != int64(parallel-c.most) {
				t.Errorf("%s: %d within the bound and %d beyond it, want %d within", name, within.Load(),
					beyond.Load(), c.most)
			}
		}
	})
}

// Requests whose codes have expired leave room for others, although their programs are still told so.
func TestExpiredDevicesLeaveRoom(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		late := b.askDevice("repo")
		b.age(901)
		b.askDevice("repo")
		err := b.db.Write(context.Background(), func(tx *db.Tx) error {
			all, here, err := waitingDevices(tx, "")
			if err == nil && (all != 1 || here != 1) {
				t.Errorf("%d wait, %d of them here; want the one that has not expired", all, here)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		b.wantPoll(late.Get("device_code"), "expired_token")
	})
}

// Codes cannot be guessed, and nobody fills the table.
func TestDeviceFlowIsBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		ctx := context.Background()
		alice := &account.Caller{ID: b.user("alice").ID, Login: "alice", Session: true}
		bob := &account.Caller{ID: b.user("bob").ID, Login: "bob", Session: true}
		code := b.askDevice("repo").Get("user_code")
		for n, wrong := range []string{"BBBB-BBBB", "", "AEIO-UAEI", strings.Repeat("B", 9000), "CCCC-CCCC"} {
			if _, err := b.s.FindDevice(ctx, alice, wrong); !errs.Is(err, errs.NotFound) {
				t.Errorf("wrong code %d: %v", n, err)
			}
		}
		if _, err := b.s.ConfirmDevice(ctx, alice, code, ""); !errs.Is(err, errs.TooManyRequests) {
			t.Errorf("the sixth try: %v", err)
		}
		if _, err := b.s.FindDevice(ctx, bob, code); err != nil {
			t.Errorf("somebody else: %v", err)
		}
		err := b.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE device_misses SET since = since - 901000000`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.s.ConfirmDevice(ctx, alice, code, ""); err != nil {
			t.Errorf("after a quarter of an hour: %v", err)
		}
		for range maxOfNetwork - 1 {
			b.askDevice("repo")
		}
		body := "client_id=" + ghClient
		b.steps([]step{{"", "POST", "/login/device/code", body, 429, "Too many codes"}})
		b.age(901)
		b.steps([]step{{"", "POST", "/login/device/code", body, 200, "user_code"}})
		b.age(3601)
		b.askDevice("")
		var rows int64
		err = b.db.Read(ctx, func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM device_requests`).Scan(&rows)
		})
		if err != nil || rows != 2 { // the last two: what expired more than an hour ago is gone
			t.Errorf("%d rows are left, %v", rows, err)
		}
	})
}

// stored is what the tables of the flow and of tokens hold.
func (b *bundle) stored() string {
	b.t.Helper()
	var all strings.Builder
	err := b.db.Read(context.Background(), func(tx *db.Tx) error {
		for _, query := range []string{`SELECT client || scopes || network FROM device_requests`,
			`SELECT hint || note FROM tokens`} {
			rows, err := tx.Query(query)
			if err != nil {
				return err
			}
			for rows.Next() {
				var text string
				if err := rows.Scan(&text); err != nil {
					return err
				}
				all.WriteString(text)
			}
			rows.Close()
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all.String()
}

func mustScopes(t *testing.T, text string) scope.Set {
	t.Helper()
	s, err := scope.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPhrase(t *testing.T, phrase string) (f audit.Filter) {
	t.Helper()
	if err := f.Parse(phrase); err != nil {
		t.Fatal(err)
	}
	return f
}
