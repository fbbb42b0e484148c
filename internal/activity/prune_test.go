package activity_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// row is what an activity is in ranges by.
type row struct {
	id     int64
	repo   repo.ID
	actor  account.ID
	org    account.ID
	public bool
}

// ranges are those that an activity is in.
func (r row) ranges() []string {
	list := []string{fmt.Sprint("repo ", r.repo, r.public), fmt.Sprint("actor ", r.actor, r.public)}
	if r.org != 0 {
		list = append(list, fmt.Sprint("org ", r.org, r.public))
	}
	return list
}

// stored reads the whole table, the newest first.
func stored(t *testing.T, d *db.DB) []row {
	t.Helper()
	var all []row
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		all = nil
		rows, err := tx.Query(
			`SELECT id, repo_id, actor_id, COALESCE(org_id, 0), public FROM activities ORDER BY id DESC`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r row
			if err := rows.Scan(&r.id, &r.repo, &r.actor, &r.org, &r.public); err != nil {
				return err
			}
			all = append(all, r)
		}
		return rows.Err()
	})
	testkit.NoError(t, err)
	return all
}

// staying is which of them may be read, found the simple way.
func staying(all []row, kept int) []row {
	newer := map[string]int{}
	var stay []row
	for _, r := range all {
		stays := false
		for _, in := range r.ranges() {
			stays = stays || newer[in] < kept
			newer[in]++
		}
		if stays {
			stay = append(stay, r)
		}
	}
	return stay
}

// happen creates random activities, some of a repository at a time, more in the first repository and by the
// first actor.
func happen(t *testing.T, d *db.DB, random *rand.Rand, n int, repos []repo.ID, actors []account.ID) {
	t.Helper()
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		for left := n; left > 0; {
			list := make([]activity.Activity, min(left, 1+random.IntN(30)))
			for i := range list {
				list[i] = activity.Activity{ActorID: some(random, actors), Kind: activity.Published}
			}
			left -= len(list)
			if err := activity.Insert(tx, some(random, repos), list...); err != nil {
				return err
			}
		}
		return nil
	})
	testkit.NoError(t, err)
}

// town creates repositories of all kinds, and people who follow and watch.
func town(t *testing.T, s *apitest.Server) (repos []repo.ID, actors []account.ID) {
	t.Helper()
	users(t, s, "alice", "bob", "carol")
	s.Org(t, "guild", "alice")
	s.Repo(t, "alice/garden", false)
	put(t, s, "alice", "alice/garden", "README.md", "main")
	s.Run(t, []apitest.Case{
		{Do: "POST /user/repos", As: "alice", Send: `{"name": "cellar", "private": true}`, Status: 201},
		{Do: "POST /orgs/guild/repos", As: "alice", Send: `{"name": "hall"}`, Status: 201},
		{Do: "POST /orgs/guild/repos", As: "alice", Send: `{"name": "vault", "private": true}`, Status: 201},
		{Do: "POST /repos/alice/garden/forks", As: "carol", Status: 202},
		{Do: "PUT /repos/alice/cellar/subscription", As: "alice", Status: 200},
		{Do: "POST /repos/alice/garden/issues", As: "bob", Send: `{"title": "Slugs"}`, Status: 201},
		{Do: "PUT /user/following/bob", As: "alice", Status: 204},
	})
	for _, r := range stored(t, s.DB) {
		repos, actors = append(repos, r.repo), append(actors, r.actor)
	}
	slices.Sort(repos)
	slices.Sort(actors)
	return slices.Compact(repos), slices.Compact(actors)
}

// feeds reads all feeds of the town.
func feeds(t *testing.T, s *apitest.Server) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range []string{"/events", "/repos/alice/garden/events", "/networks/alice/garden/events",
		"/orgs/guild/events", "/users/alice/events", "/users/bob/events", "/users/carol/events",
		"/users/alice/events/public", "/users/alice/received_events",
		"/users/alice/received_events/public", "/users/alice/events/orgs/guild", "/repos/alice/cellar/events",
		"/repos/guild/vault/events"} {
		for page := 1; page <= 3; page++ {
			path := fmt.Sprintf("%s?per_page=100&page=%d", path, page)
			all[path] = string(s.Check(t, apitest.Case{Do: "GET " + path, As: "alice", Status: 200}).Body)
		}
	}
	return all
}

// Activities that no feed can show are deleted, also by several nodes at once, and the feeds do not change.
func TestPruningLeavesFeedsAsTheyAre(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		repos, actors := town(t, s)
		const happened = 9000
		happen(t, s.DB, rand.New(rand.NewPCG(1, 2)), happened, repos, actors)
		before, all := feeds(t, s), stored(t, s.DB)
		want := staying(all, activity.Kept)
		if len(want) >= happened { // not all: the server itself may have pruned some
			t.Fatal("nothing can go")
		}
		var nodes errgroup.Group
		for range 3 {
			nodes.Go(func() error {
				return activity.Prune(t.Context(), s.DB, activity.Kept, activity.PerTurn)
			})
		}
		testkit.NoError(t, nodes.Wait())
		if got := stored(t, s.DB); !slices.Equal(got, want) {
			t.Errorf("of %d activities %d are left, and %d should be", len(all), len(got), len(want))
		}
		if after := feeds(t, s); !maps.Equal(after, before) {
			for path := range before {
				if after[path] != before[path] {
					t.Errorf("%s tells something else", path)
				}
			}
		}
	})
}

// However much happens, what is stored stays within a multiple of what feeds
// read, and an idle server looks at nothing.
func TestPruningKeepsUp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const kept, perTurn = 20, 40
		repos, actors := town(t, s)
		random := rand.New(rand.NewPCG(3, 4))
		for range 100 {
			happen(t, s.DB, random, 1+random.IntN(30), repos, actors)
			testkit.NoError(t, activity.Prune(t.Context(), s.DB, kept, perTurn))
			all := stored(t, s.DB)
			if read := len(staying(all, kept)); len(all) > 2*read+2*perTurn+30 {
				t.Fatalf("%d activities are stored, of which %d may be read", len(all), read)
			}
		}
		var position int64
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT paid - (SELECT max(id) FROM activities) FROM activity_pruning`).Scan(
				&position)
		})
		if err != nil || position <= -perTurn/2 || position > perTurn/2 {
			t.Errorf("the work is %d activities ahead of what happened: %v", position, err)
		}
	})
}

// A server prunes by itself, beginning with what an earlier version left.
func TestServersPrune(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		on := func(o *server.Options) { o.DB = d }
		s := apitest.Start(t, engine, on)
		users(t, s, "alice")
		r := s.Repo(t, "alice/garden", false)
		happen(t, d, rand.New(rand.NewPCG(5, 6)), activity.Kept+1000, []repo.ID{r.ID},
			[]account.ID{r.OwnerID})
		apitest.Start(t, engine, on)
		testkit.Eventually(t, func() bool { return len(stored(t, d)) == activity.Kept },
			"as many activities as are kept")
	})
}

// some picks an id, more often one of the first.
func some[ID ~int64](random *rand.Rand, ids []ID) ID {
	return ids[min(random.IntN(len(ids)), random.IntN(len(ids)), random.IntN(len(ids)))]
}
