package team

import (
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// containing is the pattern of LIKE, with the escape !, for texts with a part.
func containing(part string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(account.Fold(part)) + "%"
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
