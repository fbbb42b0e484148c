package gitdata

import (
	"testing"

	"arbor/internal/admission"
)

// The memory to render a text is given back before a client gets the outcome, which it
// may read slowly: a few such clients would hold all memory.
func TestRenderingHoldsNoMemoryAfterwards(t *testing.T) {
	c := admission.New(1<<30, nil)
	ctx := admission.With(t.Context(), c.NewTicket(admission.Holder{Account: 1}))
	for _, rendered := range []bool{true, false} {
		body, err := toHTML(ctx, "# a < b", rendered)
		if err != nil || len(body) == 0 {
			t.Errorf("%q, %v", body, err)
		}
	}
	if held := c.Usage()[admission.Work].Held; held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}
