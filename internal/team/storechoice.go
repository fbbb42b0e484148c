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

// isBelow is the condition that a team is below the team $1, however far.
var isBelow = fmt.Sprintf(`t.id IN (WITH RECURSIVE down (id, depth) AS (SELECT c.id, 1 FROM teams c WHERE c.parent_id = $1
	UNION ALL SELECT c.id, down.depth + 1 FROM teams c JOIN down ON c.parent_id = down.id WHERE down.depth < %d)
	SELECT id FROM down)`, maxDepth)

// order is the ORDER BY of the members m of a team.
func (c MemberChoice) order() string {
	direction := map[bool]string{false: ``, true: ` DESC`}[c.Desc]
	switch c.By {
	case ByLogin:
		return ` ORDER BY (SELECT a.login_folded FROM accounts a WHERE a.id = m.user_id)` + direction
	case ByJoining:
		return ` ORDER BY m.created_at` + direction + `, m.user_id` + direction
	}
	return ` ORDER BY m.user_id` + direction
}

// order is the ORDER BY of the repositories r on which a team has the role f.role.
func (c RepoChoice) order() string {
	direction := map[bool]string{false: ``, true: ` DESC`}[c.Desc]
	by := map[string]string{"created": `r.created_at`, "updated": `r.updated_at`, "pushed": `r.pushed_at`,
		"stars": `r.stars`, "name": `r.name_folded`, "role": `f.role`}[c.By]
	if by != "" {
		by += direction + `, `
	}
	return ` ORDER BY ` + by + `r.id` + direction
}

// chosen reads a page of the teams that meet a condition and a choice, and how many there are.
func chosen(tx *db.Tx, where string, c Choice, page web.Page, args ...any) ([]*Team, int64, error) {
	add := func(v any) string {
		args = append(args, v)
		return arg(len(args))
	}
	if c.Top {
		where += ` AND t.parent_id IS NULL`
	}
	if c.Secret.Set {
		where += ` AND t.secret = ` + map[bool]string{true: `TRUE`, false: `FALSE`}[c.Secret.Value]
	}
	if c.Text != "" {
		where += ` AND t.slug LIKE ` + add(containing(strings.ReplaceAll(c.Text, " ", "-"))) + ` ESCAPE '!'`
	}
	if c.Role != Outside {
		where += ` AND EXISTS (SELECT 1 FROM team_members cm WHERE cm.team_id = t.id AND cm.user_id = $2 AND cm.role = ` +
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
	order := "t.slug"
	if c.Desc {
		order += " DESC"
	}
	return pageOf(tx, where, order, page, args...)
}
