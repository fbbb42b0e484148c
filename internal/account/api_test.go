package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
)

const notFound = `={"message":"Not Found","documentation_url":"http://arbor.test/docs"}`

// A profile shows what people wrote about themselves; the e-mail address only to signed-in callers.
func TestUsers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("Alice")
		b.user("bob")
		b.org("Acme", "Alice")
		b.steps([]step{
			{"Alice", "GET", "/user", "", 200,
				`"user_view_type":"private","site_admin":false,"name":null,"company":null,"blog":null`},
			{"Alice", "GET", "/user", "", 200, `"owned_private_repos":0`},
			{"Alice", "PATCH", "/user",
				`{"name":"Alice <b>","email":"a@example.org","bio":"two\nlines","company":"C","blog":"http://b","location":"L","x":1}`, 200,
				`"name":"Alice <b>","company":"C","blog":"http://b","location":"L","email":"a@example.org","hireable":null,"bio":"two\nlines"`},
			{"", "GET", "/users/aLICE", "", 200,
				`"name":"Alice <b>","company":"C","blog":"http://b","location":"L","email":null`},
			{"bob", "GET", "/users/Alice", "", 200, `"email":"a@example.org"`},
			{"bob", "GET", "/users/acme", "", 200, `"type":"Organization"`},
			{"Alice", "PATCH", "/user", `{"company":null,"blog":""}`, 200,
				`"name":"Alice <b>","company":null,"blog":null,"location":"L"`},
			{"Alice", "PATCH", "/user", `{}`, 200, `"location":"L"`},
			{"Alice", "PATCH", "/user", `{"name":7,"email":"x","blog":"a\nb"}`, 422,
				`{"resource":"User","field":"name","code":"invalid"`},
			{"Alice", "PATCH", "/user", `{"name":7,"email":"x","blog":"a\nb"}`, 422,
				`"field":"email","code":"invalid"`},
			{"Alice", "PATCH", "/user", `{"location":"a\u0000b"}`, 422, `"field":"location"`},
			{"Alice", "PATCH", "/user", `{"name":"` + strings.Repeat("ü", 256) + `"}`, 422,
				`name is too long (maximum is 255 characters)`},
			{"Alice", "PATCH", "/user", `{"name":"` + strings.Repeat("ü", 255) + `"}`, 200, `"ü`},
			{"Alice", "PATCH", "/user", `[]`, 400, `Body should be a JSON object`},
			{"Alice", "PATCH", "/user", `{`, 400, `Problems parsing JSON`},
			{"Alice", "GET", "/users/nobody", "", 404, notFound},
			{"", "GET", "/users/a%00b", "", 404, notFound},
			{"", "GET", "/users/%FF", "", 404, notFound},
		})
		w := b.do("", "GET", "/users/alice", "", "Authorization", "Bearer arb_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGH")
		if w.Code != 401 || !strings.Contains(w.Body.String(), "Bad credentials") ||
			w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("a wrong token where none is needed: %d %s", w.Code, w.Body)
		}
		w = b.do("Alice", "GET", "/user", "")
		if w.Header().Get("Last-Modified") == "" || w.Header().Get("ETag") == "" {
			t.Errorf("headers: %v", w.Header())
		}
		if w := b.do("Alice", "GET", "/user", "", "If-None-Match", w.Header().Get("ETag")); w.Code != 304 ||
			w.Body.Len() != 0 {
			t.Errorf("If-None-Match: %d %s", w.Code, w.Body)
		}
	})
}

// Walking all accounts by their Link headers meets each once.
func TestListUsers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		want := []string{}
		for i := range 5 {
			want = append(want, b.user(fmt.Sprint("user", i)).Login)
		}
		want = append(want, b.org("acme", "user0").Login)
		var got []string
		target := "/users?per_page=2&since=0&x=%22%3E"
		for target != "" {
			w := b.do("", "GET", target, "")
			got = append(got, logins(t, w)...)
			target = ""
			if link := w.Header().Get("Link"); link != "" {
				if !strings.HasPrefix(link, "<http://arbor.test/api/v3/users?") ||
					!strings.HasSuffix(link, `>; rel="next"`) {
					t.Fatalf("Link %s", link)
				}
				target = strings.TrimPrefix(strings.TrimSuffix(link, `>; rel="next"`),
					"<http://arbor.test/api/v3")
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		for _, target := range []string{"/users?since=x", "/users?since=-1",
			"/users?since=99999999999999999999", "/users"} {
			if got := logins(t, b.do("", "GET", target, "")); !slices.Equal(got, want) {
				t.Errorf("%s: %v", target, got)
			}
		}
		b.steps([]step{{"", "GET", "/users?since=9223372036854775807", "", 200, "=[]"}})
	})
}

func logins(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	var list []struct{ Login string }
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	out := []string{}
	for _, e := range list {
		out = append(out, e.Login)
	}
	return out
}

// An organization is changed by its owners only; what members see of it, others
// do not.
func TestOrganizations(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("owner")
		b.user("member")
		b.user("outsider")
		b.user("siteadmin")
		b.org("Acme", "owner")
		mustOwn := `"message":"You must be an owner of the organization \"Acme\""`
		b.steps([]step{
			{"owner", "PUT", "/orgs/acme/members/member", "", 204, "="},
			{"", "GET", "/orgs/acme", "", 200, `"type":"Organization"}`},
			{"outsider", "GET", "/orgs/ACME", "", 200, `"type":"Organization"}`},
			{"member", "GET", "/orgs/acme", "", 200, `"default_repository_permission":"read"}`},
			{"siteadmin", "GET", "/orgs/acme", "", 200, `"default_repository_permission":"read"}`},
			{"", "GET", "/orgs/owner", "", 404, notFound},
			{"", "GET", "/orgs/nobody", "", 404, notFound},
			{"owner", "PATCH", "/orgs/acme",
				`{"description":"d","name":"ACME","default_repository_permission":"write"}`, 200,
				`"description":"d","name":"ACME"`},
			{"siteadmin", "PATCH", "/orgs/acme", `{"email":"x@y"}`, 200,
				`"default_repository_permission":"write"}`},
			{"owner", "PATCH", "/orgs/acme", `{"default_repository_permission":"push"}`, 422,
				`"field":"default_repository_permission","code":"invalid"`},
			{"owner", "PATCH", "/orgs/acme", `{"default_repository_permission":null}`, 422,
				`must not be null`},
			{"owner", "PATCH", "/orgs/acme", `{"default_repository_permission":"none"}`, 200,
				`"default_repository_permission":"none"`},
			{"member", "PATCH", "/orgs/acme", `{`, 403, mustOwn},
			{"outsider", "PATCH", "/orgs/acme", `{}`, 403, mustOwn},
			{"outsider", "PATCH", "/orgs/nobody", `{`, 404, notFound},
			{"outsider", "PATCH", "/orgs/outsider", `{}`, 404, notFound},

			{"owner", "GET", "/user/orgs", "", 200, `[{"login":"Acme"`},
			{"outsider", "GET", "/user/orgs", "", 200, "=[]"},
			{"member", "GET", "/users/member/orgs", "", 200, `[{"login":"Acme"`},
			{"siteadmin", "GET", "/users/member/orgs", "", 200, `[{"login":"Acme"`},
			{"owner", "GET", "/users/member/orgs", "", 200, "=[]"},
			{"", "GET", "/users/member/orgs", "", 200, "=[]"},
			{"", "GET", "/users/acme/orgs", "", 200, "=[]"},
			{"", "GET", "/users/nobody/orgs", "", 404, notFound},
		})
	})
}

// Who belongs to an organization is its own affair until they show it; only
// owners choose, and there is always one.
func TestMembers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		for _, login := range []string{"owner", "member", "outsider", "siteadmin"} {
			b.user(login)
		}
		b.org("Acme", "owner")
		last := `is the last owner of the organization \"Acme\"`
		b.steps([]step{
			{"outsider", "PUT", "/orgs/acme/members/outsider", "", 403, "must be an owner"},
			{"owner", "PUT", "/orgs/acme/members/nobody", "", 404, notFound},
			{"owner", "PUT", "/orgs/acme/members/acme", "", 404, notFound},
			{"owner", "PUT", "/orgs/nobody/members/member", "", 404, notFound},
			{"owner", "PUT", "/orgs/acme/members/Member", "", 204, "="},
			{"owner", "PUT", "/orgs/acme/members/member", "null", 204, "="},
			{"member", "PUT", "/orgs/acme/members/outsider", "", 403, "must be an owner"},

			{"member", "GET", "/orgs/acme/members/owner", "", 204, "="},
			{"member", "GET", "/orgs/acme/members/outsider", "", 404, notFound},
			{"member", "GET", "/orgs/acme/members/nobody", "", 404, notFound},
			{"siteadmin", "GET", "/orgs/acme/members/owner", "", 204, "="},
			{"outsider", "GET", "/orgs/acme/members/owner", "", 302, "="},
			{"", "GET", "/orgs/acme/members/nobody", "", 302, "="},
			{"", "GET", "/orgs/nobody/members/owner", "", 404, notFound},
			{"", "GET", "/orgs/acme/public_members/owner", "", 404, notFound},

			{"", "GET", "/orgs/acme/memberships/owner", "", 401, "Requires authentication"},
			{"outsider", "GET", "/orgs/acme/memberships/owner", "", 403, "must be a member"},
			{"outsider", "GET", "/orgs/acme/memberships/nobody", "", 403, "must be a member"},
			{"outsider", "GET", "/orgs/acme/memberships/outsider", "", 404, notFound},
			{"member", "GET", "/orgs/acme/memberships/owner", "", 200,
				`{"url":"http://arbor.test/api/v3/orgs/Acme/memberships/owner","state":"active","role":"admin"`},
			{"member", "GET", "/orgs/acme/memberships/outsider", "", 404, notFound},
			{"member", "PUT", "/orgs/acme/memberships/member", `{"role":"admin"}`, 403, "must be an owner"},
			{"owner", "PUT", "/orgs/acme/memberships/member", `{"role":"boss"}`, 422, `"field":"role"`},
			{"owner", "PUT", "/orgs/acme/memberships/member", "", 200, `"role":"member"`},

			{"owner", "PUT", "/orgs/acme/memberships/owner", `{"role":"member"}`, 422, last},
			{"owner", "DELETE", "/orgs/acme/members/owner", "", 422, last},
			{"siteadmin", "DELETE", "/orgs/acme/memberships/owner", "", 422, last},
			{"member", "DELETE", "/orgs/acme/members/owner", "", 403, "must be an owner"},
			{"owner", "PUT", "/orgs/acme/memberships/member", `{"role":"admin"}`, 200, `"role":"admin"`},
			{"owner", "PUT", "/orgs/acme/members/member", "", 204, "="},
			{"owner", "GET", "/orgs/acme/memberships/member", "", 200, `"role":"admin"`},
			{"owner", "PUT", "/orgs/acme/memberships/owner", `{"role":"member"}`, 200, `"role":"member"`},
			{"owner", "PUT", "/orgs/acme/memberships/outsider", "", 403, "must be an owner"},
			{"owner", "DELETE", "/orgs/acme/members/owner", "", 204, "="},
			{"owner", "DELETE", "/orgs/acme/members/owner", "", 404, notFound},
			{"member", "DELETE", "/orgs/acme/members/outsider", "", 404, notFound},
			{"member", "DELETE", "/orgs/acme/members/nobody", "", 404, notFound},
			{"outsider", "DELETE", "/orgs/acme/members/nobody", "", 403, "must be an owner"},
		})
		w := b.do("outsider", "GET", "/orgs/acme/members/a%2Fb", "")
		if want := "http://arbor.test/api/v3/orgs/acme/public_members/a%2Fb"; w.Header().Get(
			"Location") != want {
			t.Errorf("Location %s", w.Header().Get("Location"))
		}
	})
}

func TestPublicMembers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("owner")
		b.user("member")
		b.user("outsider")
		b.org("Acme", "owner")
		b.steps([]step{
			{"owner", "PUT", "/orgs/acme/members/member", "", 204, "="},
			{"outsider", "GET", "/orgs/acme/members", "", 200, "=[]"},
			{"owner", "PUT", "/orgs/acme/public_members/member", "", 403, "only your own"},
			{"owner", "DELETE", "/orgs/acme/public_members/nobody", "", 403, "only your own"},
			{"outsider", "PUT", "/orgs/acme/public_members/outsider", "", 404, notFound},
			{"outsider", "PUT", "/orgs/nobody/public_members/outsider", "", 404, notFound},
			{"member", "PUT", "/orgs/acme/public_members/MEMBER", "", 204, "="},
			{"member", "PUT", "/orgs/acme/public_members/member", "{}", 204, "="},
			{"", "GET", "/orgs/acme/public_members/member", "", 204, "="},
			{"", "GET", "/orgs/acme/public_members/owner", "", 404, notFound},
			{"", "GET", "/users/member/orgs", "", 200, `[{"login":"Acme"`},
			{"outsider", "GET", "/orgs/acme/members?role=x", "", 422, `"field":"role"`},
			{"outsider", "GET", "/orgs/nobody/members?role=x", "", 404, notFound},
		})
		lists := []struct{ login, target, want string }{
			{"outsider", "/orgs/acme/members", "member"},
			{"", "/orgs/acme/members?role=admin", ""},
			{"", "/orgs/acme/members?role=member", "member"},
			{"owner", "/orgs/acme/members", "owner member"},
			{"owner", "/orgs/acme/members?role=admin", "owner"},
			{"owner", "/orgs/acme/members?role=member", "member"},
			{"owner", "/orgs/acme/members?role=all", "owner member"},
			{"owner", "/orgs/acme/public_members", "member"},
		}
		for _, l := range lists {
			if got := strings.Join(logins(t, b.do(l.login, "GET", l.target, "")), " "); got != l.want {
				t.Errorf("%s as %q: %q, want %q", l.target, l.login, got, l.want)
			}
		}
		b.steps([]step{
			{"member", "DELETE", "/orgs/acme/public_members/member", "", 204, "="},
			{"", "GET", "/orgs/acme/public_members", "", 200, "=[]"},
		})
	})
}

// Pages have a last one, also after the number of members changed.
func TestMemberPages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("owner")
		b.org("acme", "owner")
		const at = "<http://arbor.test/api/v3/orgs/acme/members?per_page=2&page="
		check := func(page, wantLink string, wantCount int) {
			t.Helper()
			w := b.do("owner", "GET", "/orgs/acme/members?per_page=2&page="+page, "")
			if n := len(logins(t, w)); n != wantCount || w.Header().Get("Link") != wantLink {
				t.Errorf("page %s: %d, %s", page, n, w.Header().Get("Link"))
			}
		}
		check("1", "", 1)
		check("2", at+`1>; rel="last", `+at+`1>; rel="first", `+at+`1>; rel="prev"`, 0)
		for _, login := range []string{"b", "c", "d"} {
			b.user(login)
			b.steps([]step{{"owner", "PUT", "/orgs/acme/members/" + login, "", 204, "="}})
		}
		check("1", at+`2>; rel="next", `+at+`2>; rel="last"`, 2)
		check("2", at+`1>; rel="first", `+at+`1>; rel="prev"`, 2)
		check("9223372036854775807", at+`2>; rel="last", `+at+`1>; rel="first", `+at+`2>; rel="prev"`, 0)
		b.user("e")
		b.steps([]step{{"owner", "PUT", "/orgs/acme/members/e", "", 204, "="}})
		check("1", at+`2>; rel="next", `+at+`3>; rel="last"`, 2)
	})
}

// Two owners who leave at the same moment must not leave an organization that
// nobody can govern.
func TestLastOwnerRace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		first, second := b.user("a"), b.user("b")
		b.org("acme", "a")
		ctx := context.Background()
		for range 30 {
			b.do("a", "PUT", "/orgs/acme/memberships/b", `{"role":"admin"}`)
			b.do("b", "PUT", "/orgs/acme/memberships/a", `{"role":"admin"}`)
			results := make(chan error)
			go func() { results <- b.s.RemoveMember(ctx, &Caller{ID: first.ID, Login: "a"}, "acme", "a") }()
			go func() {
				_, err := b.s.SetMember(ctx, &Caller{ID: second.ID, Login: "b"}, "acme", "b", "member")
				results <- err
			}()
			if x, y := <-results, <-results; (x == nil) == (y == nil) ||
				!errs.Is(errors.Join(x, y), errs.Invalid) {
				t.Fatalf("%v and %v", x, y)
			}
		}
	})
}
