package pages_test

import (
	"fmt"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// Of visitors who send the code at the same time one makes the administrator, and the others nothing: a
// second administrator would be somebody whom the operator does not know of.
func TestVisitorsRaceToSetUp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const visitors = 6
		var all sync.WaitGroup
		status, session := make([]int, visitors), make([]string, visitors)
		for n := range visitors {
			all.Go(func() {
				a := visit(t, s, "POST /setup", "", fmt.Sprintf("code=%s&login=root%d&password=a+long+secret",
					s.Server.SetupCode(), n))
				status[n], session[n] = a.Status, frontCookieOf(a)
			})
		}
		all.Wait()
		made, signedIn := 0, 0
		for n := range visitors {
			if status[n] == 303 {
				made++
			} else if status[n] != 404 {
				t.Errorf("visitor %d: %d", n, status[n])
			}
			if session[n] != "" {
				signedIn++
			}
		}
		var users int
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM accounts WHERE site_admin`).Scan(&users)
		})
		if err != nil || made != 1 || signedIn != 1 || users != 1 {
			t.Errorf("%d were led on, %d are signed in, there are %d administrators: %v", made, signedIn, users,
				err)
		}
		want(t, visit(t, s, "POST /setup", "", "code="+s.Server.SetupCode()+
			"&login=late&password=a+long+secret"), 404)
	})
}

// Each node takes the code that another one printed: a balancer leads visitors to any of them.
func TestSetupOfNodes(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address, key := dbtest.URL(t, engine), durable.NewKey()
		node := func(key []byte) *apitest.Server {
			return apitest.Start(t, engine, func(o *server.Options) {
				o.DB, o.LFSKey = dbtest.OpenURL(t, address), key
			})
		}
		one, other, strange := node(key), node(key), node(durable.NewKey())
		set := func(code string) *apitest.Answer {
			return visit(t, other, "POST /setup", "", "code="+code+"&login=gardener&password=a+long+secret")
		}
		want(t, set(strange.Server.SetupCode()), 422, "not the code")
		want(t, set(one.Server.SetupCode()), 303)
	})
}
