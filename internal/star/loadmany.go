package star

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Mark is a user who marked a repository, in the form of GET /repos/{owner}/{repo}/stargazers.
type Mark struct {
	*account.Simple
	At db.Time
}

// PeopleOf lists a page of those who marked each of several repositories, the first or with desc the last one first,
// with a fixed number of statements.
func (s *Service) PeopleOf(
	ctx context.Context, repos []*repo.Access, k Kind, desc bool, page web.Page,
) (map[repo.ID]*web.List[Mark], error) {
	var marks []markOf
	var totals map[repo.ID]int64
	var people map[account.ID]*account.Account
	err := s.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
		if totals, err = countPeopleOf(tx, k, repos); err != nil {
			return err
		}
		if marks, err = peopleOfMany(tx, k, repos, desc, page); err != nil {
			return err
		}
		ids := make([]account.ID, len(marks))
		for n, m := range marks {
			ids[n] = m.user
		}
		people, err = account.ByIDs(tx, db.Unique(ids))
		return err
	})
	if err != nil {
		return nil, err
	}
	info, out := web.From(ctx), map[repo.ID]*web.List[Mark]{}
	for _, a := range repos {
		out[a.ID] = &web.List[Mark]{Total: totals[a.ID], More: page.Number*page.Size < totals[a.ID]}
	}
	for _, m := range marks {
		if p := people[m.user]; p != nil {
			out[m.repo].Rows = append(out[m.repo].Rows, Mark{account.NewSimple(p, info), m.at})
		}
	}
	return out, nil
}

// markOf is a user's mark of a repository.
type markOf struct {
	repo repo.ID
	user account.ID
	at   db.Time
}

func countPeopleOf(tx *db.Tx, k Kind, repos []*repo.Access) (map[repo.ID]int64, error) {
	ids := repo.IDsOf(repos)
	return db.QueryMap[repo.ID, int64](tx, `SELECT id, `+k.column()+` FROM repos WHERE id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

func peopleOfMany(tx *db.Tx, k Kind, repos []*repo.Access, desc bool, page web.Page) ([]markOf, error) {
	parts, order := make([]string, len(repos)), ` ORDER BY created_at, user_id`
	if desc {
		order = ` ORDER BY created_at DESC, user_id DESC`
	}
	for n := range repos {
		parts[n] = fmt.Sprintf(`SELECT repo_id, user_id, created_at FROM (SELECT repo_id, user_id, created_at FROM %s
			WHERE repo_id = $%d%s LIMIT $1 OFFSET $2) p%d`, k.table(), n+3, order, n)
	}
	return db.QueryList(tx, func(row db.Scanner) (m markOf, err error) {
		err = row.Scan(&m.repo, &m.user, &m.at)
		return m, err
	}, `SELECT repo_id, user_id, created_at FROM (`+strings.Join(parts, ` UNION ALL `)+`) p`+order,
		db.Args(repo.IDsOf(repos), page.Size, page.Offset())...)
}

// Starred reports which of the repositories the caller has starred, with one statement.
func (s *Service) Starred(ctx context.Context, repos []*repo.Access) (map[repo.ID]bool, error) {
	out, err := s.marked(ctx, repos, `SELECT repo_id, 1 FROM stars`)
	starred := map[repo.ID]bool{}
	for id := range out {
		starred[id] = true
	}
	return starred, err
}

// Subscriptions reports how the caller is subscribed to the repositories, with one statement.
func (s *Service) Subscriptions(ctx context.Context, repos []*repo.Access) (map[repo.ID]Wish, error) {
	// Of both the first counts, as in subscription.
	return s.marked(ctx, repos, fmt.Sprintf(`SELECT repo_id, MIN(wish) FROM (
		SELECT user_id, repo_id, %d AS wish FROM watches UNION ALL SELECT user_id, repo_id, %d FROM silences) m`,
		Everything, Nothing))
}

// marked runs a statement that selects repositories with a number, for those that are the caller's marks.
func (s *Service) marked(ctx context.Context, repos []*repo.Access, query string) (out map[repo.ID]Wish, err error) {
	if len(repos) == 0 || repos[0].Caller == nil {
		return nil, nil
	}
	ids := repo.IDsOf(repos)
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		out, err = db.QueryMap[repo.ID, Wish](tx, query+` WHERE user_id = $1 AND repo_id IN `+
			db.ValuesFrom(2, 1, len(ids))+` GROUP BY repo_id`, db.Args(ids, repos[0].Caller.ID)...)
		return err
	})
	return out, err
}
