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

// Choice chooses among the repositories that users marked, and sorts them, by more than REST's lists do.
type Choice struct {
	Owner              account.ID    // who owns them; 0: anybody
	Private, HasIssues web.Opt[bool] // not set: either
	Of                 account.ID    // whom one of the Affiliations is of
	Affiliations       []string      // OWNER, COLLABORATOR and ORGANIZATION_MEMBER; nil: any
	By                 string        // created, updated, pushed, stars or name; empty: by when they were marked
	Desc               bool
}

// all reports whether every repository is chosen.
func (c Choice) all() bool {
	return c.Owner == 0 && !c.Private.Set && !c.HasIssues.Set && c.Affiliations == nil
}

// ReposOf lists a page of the chosen ones of the repositories that each of several users marked and that the caller
// may see, with a fixed number of statements.
func (s *Service) ReposOf(
	ctx context.Context, caller *account.Caller, users []account.ID, k Kind, c Choice, page web.Page,
) (map[account.ID]*web.List[Marked], error) {
	out := map[account.ID]*web.List[Marked]{}
	err := s.db.ReadLong(ctx, func(tx *db.Tx) error {
		chosen, err := choose(tx, k, users, caller)
		if err != nil {
			return err
		}
		var filters []*filter
		for _, id := range users {
			filters = append(filters, chosen[id])
		}
		var totals map[account.ID]int64
		if !c.all() {
			if totals, err = countRepos(tx, filters, c); err != nil {
				return err
			}
		}
		filters = nil
		for _, id := range users {
			total := chosen[id].total
			if !c.all() {
				total = totals[id]
			}
			out[id] = &web.List[Marked]{Total: total, More: page.Offset()+page.Size < total}
			if page.Offset() < total {
				filters = append(filters, chosen[id])
			}
		}
		if len(filters) == 0 {
			return nil
		}
		marks, err := reposOfMany(tx, filters, c, page)
		if err != nil {
			return err
		}
		ids := make([]repo.ID, len(marks))
		for n, m := range marks {
			ids[n] = m.repo
		}
		repos, err := repo.ByIDs(tx, caller, db.Unique(ids))
		for _, m := range marks {
			if a := repos[m.repo]; a != nil {
				out[m.user].Rows = append(out[m.user].Rows, Marked{a, m.at})
			}
		}
		return err
	})
	return out, err
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

// conditions are those of a choice on a repository c, with arguments that are added to args.
func (c Choice) conditions(args *[]any) (text string) {
	for column, has := range map[string]web.Opt[bool]{"private": c.Private, "has_issues": c.HasIssues} {
		if has.Set {
			text += ` AND c.` + column + ` = ` + map[bool]string{true: `TRUE`, false: `FALSE`}[has.Value]
		}
	}
	if c.Owner != 0 {
		*args = append(*args, c.Owner)
		text += fmt.Sprintf(` AND c.owner_id = $%d`, len(*args))
	}
	if c.Affiliations != nil {
		*args = append(*args, c.Of)
		of, any := fmt.Sprintf(`$%d`, len(*args)), []string{`FALSE`}
		for _, name := range c.Affiliations {
			any = append(any, map[string]string{"OWNER": `c.owner_id = ` + of,
				"COLLABORATOR":        `EXISTS (SELECT 1 FROM collaborators w WHERE w.repo_id = c.id AND w.user_id = ` + of + `)`,
				"ORGANIZATION_MEMBER": `EXISTS (SELECT 1 FROM members w WHERE w.org_id = c.owner_id AND w.user_id = ` + of + `)`}[name])
		}
		text += ` AND CAST(` + of + ` AS BIGINT) IS NOT NULL AND (` + strings.Join(any, ` OR `) + `)`
	}
	return text
}

// countRepos counts the marks that each filter and a choice choose.
func countRepos(tx *db.Tx, filters []*filter, c Choice) (map[account.ID]int64, error) {
	args := callerOf(filters...)
	condition, parts := c.conditions(&args), make([]string, len(filters))
	for n, f := range filters {
		args = append(args, f.user)
		parts[n] = fmt.Sprintf(`SELECT CAST(%d AS BIGINT), count(*) FROM %s s JOIN repos c ON c.id = s.repo_id WHERE %s%s`,
			f.user, f.kind.table(), f.condition(fmt.Sprintf(`$%d`, len(args))), condition)
	}
	return db.QueryMap[account.ID, int64](tx, strings.Join(parts, ` UNION ALL `), args...)
}

// reposOfMany reads a page of the marks that each filter and a choice choose.
func reposOfMany(tx *db.Tx, filters []*filter, c Choice, page web.Page) ([]markOf, error) {
	direction, by := map[bool]string{false: ``, true: ` DESC`}[c.Desc], `s.created_at`
	if c.By != "" {
		by = map[string]string{"created": `c.created_at`, "updated": `c.updated_at`, "pushed": `c.pushed_at`,
			"stars": `c.stars`, "name": `c.name_folded`}[c.By]
	}
	args := append(callerOf(filters...), page.Size, page.Offset())
	size, offset := len(args)-1, len(args)
	condition, parts := c.conditions(&args), make([]string, len(filters))
	from := ` s`
	if !c.all() || c.By != "" {
		from = ` s JOIN repos c ON c.id = s.repo_id`
	}
	order := ` ORDER BY ` + by + direction + `, s.repo_id` + direction
	for n, f := range filters {
		args = append(args, f.user)
		parts[n] = fmt.Sprintf(`SELECT * FROM (SELECT s.repo_id, s.user_id, s.created_at, %s AS place
			FROM %s%s WHERE %s%s%s LIMIT $%d OFFSET $%d) p%d`, by, f.kind.table(), from,
			f.condition(fmt.Sprintf(`$%d`, len(args))), condition, order, size, offset, n)
	}
	return db.QueryList(tx, func(row db.Scanner) (m markOf, err error) {
		err = row.Scan(&m.repo, &m.user, &m.at)
		return m, err
	}, `SELECT repo_id, user_id, created_at FROM (`+strings.Join(parts, ` UNION ALL `)+`) p ORDER BY place`+direction+
		`, repo_id`+direction, args...)
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
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[repo.ID]Wish, error) {
		return db.QueryMap[repo.ID, Wish](tx, query+` WHERE user_id = $1 AND repo_id IN `+
			db.ValuesFrom(2, 1, len(ids))+` GROUP BY repo_id`, db.Args(ids, repos[0].Caller.ID)...)
	})
}
