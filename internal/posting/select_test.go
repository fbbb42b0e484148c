package posting

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Words that must not stand in the issues of one small repository are not looked for
// in all texts that a server has.
func TestRangesLookForWordsInTheirRepository(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		err := dbtest.Open(t, engine).Read(t.Context(), func(tx *db.Tx) error {
			b, f := &builder{tx: tx}, &ranges{tx: tx}
			without := Not{Text{Terms: []string{"the"}, In: fulltext.InTitle}}
			query := f.from(b, &span{by: ByAll.Of(0), repo: 777, rest: And{without}})
			if args := fmt.Sprint(b.args); strings.Count(args, "777") < 2 {
				t.Errorf("it looks everywhere: %s %s", query, args)
			}
			return nil
		})
		testkit.NoError(t, err)
	})
}
