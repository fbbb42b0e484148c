package team

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// containing is the pattern of LIKE, with the escape !, for texts with a part.
func containing(part string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(account.Fold(part)) + "%"
}

// isBelow is the condition that a team is below the team of an id, an expression, however far.
func isBelow(id string) string {
	return fmt.Sprintf(`t.id IN (WITH RECURSIVE down (id, depth) AS (SELECT c.id, 1 FROM teams c WHERE c.parent_id = %s
		UNION ALL SELECT c.id, down.depth + 1 FROM teams c JOIN down ON c.parent_id = down.id WHERE down.depth < %d)
		SELECT id FROM down)`, id, maxDepth)
}

// order follows ORDER BY: of the members m of a team.
func (c MemberChoice) order() string {
	direction := map[bool]string{false: ``, true: ` DESC`}[c.Desc]
	switch c.By {
	case ByLogin:
		return `(SELECT a.login_folded FROM accounts a WHERE a.id = m.user_id)` + direction
	case ByJoining:
		return `m.created_at` + direction + `, m.user_id` + direction
	}
	return `m.user_id` + direction
}

// order follows ORDER BY: of the repositories r on which a team has the role f.role.
func (c RepoChoice) order() string {
	direction := map[bool]string{false: ``, true: ` DESC`}[c.Desc]
	by := map[string]string{"created": `r.created_at`, "updated": `r.updated_at`, "pushed": `r.pushed_at`,
		"stars": `r.stars`, "name": `r.name_folded`, "role": `f.role`}[c.By]
	if by != "" {
		by += direction + `, `
	}
	return by + `r.id` + direction
}

// ofOrgs reads a page of the teams of each organization that the caller, who is in all of them, may see.
func ofOrgs(
	tx *db.Tx, caller *account.Caller, orgs []account.ID, may map[account.ID]account.OrgAccess, c Choice, page web.Page,
) (map[account.ID]*web.List[*Team], error) {
	return chosen(tx, caller, orgs, func(id account.ID, param string) string {
		return `t.org_id = ` + param + ` AND ` + Seen("t", may[id].Owner, "$1")
	}, c, page)
}

// childrenOf reads a page of the teams below each team: members of the organization see them all.
func childrenOf(
	tx *db.Tx, caller *account.Caller, of []ID, c Choice, page web.Page,
) (map[ID]*web.List[*Team], error) {
	return chosen(tx, caller, of, func(_ ID, param string) string {
		where := `t.parent_id = ` + param
		if c.Below {
			where = isBelow(param)
		}
		return where + ` AND CAST($1 AS BIGINT) IS NOT NULL` // as each argument must be used
	}, c, page)
}

// chosen reads a page of the teams t of each key that meet a condition and a choice. $1 is the caller's id.
func chosen[K ~int64](
	tx *db.Tx, caller *account.Caller, keys []K, where func(k K, param string) string, c Choice, page web.Page,
) (map[K]*web.List[*Team], error) {
	args := []any{account.IDOf(caller)}
	more := c.where(func(v any) string {
		args = append(args, v)
		return arg(len(args))
	})
	l := db.Lists[K]{Columns: `t.id, 0`, Order: `t.slug`, From: func(k K, param string) string {
		return `FROM teams t WHERE ` + where(k, param) + more
	}}
	if c.Desc {
		l.Order += ` DESC`
	}
	found, err := db.PageOfEach[K, ID](tx, keys, l, page.Offset(), page.Size, args...)
	if err != nil {
		return nil, err
	}
	teams := map[ID]*Team{}
	err = db.InParts(db.ListedIDs(found), func(part []ID) error {
		list, err := query(tx, `t.id IN `+db.Values(1, len(part)), db.Args(part)...)
		for _, t := range list {
			teams[t.ID] = t
		}
		return err
	})
	return web.ListOfEach(page, found, func(r db.ListRow[ID]) (*Team, bool) { return teams[r.ID], teams[r.ID] != nil }), err
}

// where is the condition of a choice among teams t, with AND before it. $1 is the caller's id.
func (c Choice) where(add func(any) string) (where string) {
	if c.Top {
		where += ` AND t.parent_id IS NULL`
	}
	if c.None {
		where += ` AND FALSE`
	}
	for column, is := range map[string]web.Opt[bool]{"secret": c.Secret, "quiet": c.Quiet} {
		if is.Set {
			where += ` AND t.` + column + ` = ` + map[bool]string{true: `TRUE`, false: `FALSE`}[is.Value]
		}
	}
	if c.Text != "" {
		where += ` AND t.slug LIKE ` + add(containing(strings.ReplaceAll(c.Text, " ", "-"))) + ` ESCAPE '!'`
	}
	if c.Role != Outside {
		where += ` AND EXISTS (SELECT 1 FROM team_members cm WHERE cm.team_id = t.id AND cm.user_id = $1 AND cm.role = ` +
			add(int64(c.Role)) + `)`
	}
	if len(c.Users) > 0 {
		logins := make([]string, len(c.Users))
		for n, login := range c.Users {
			logins[n] = add(account.Fold(login))
		}
		where += ` AND EXISTS (SELECT 1 FROM team_members um JOIN accounts ua ON ua.id = um.user_id
			WHERE um.team_id = t.id AND ua.login_folded IN (` + strings.Join(logins, `, `) + `))`
	}
	return where
}
