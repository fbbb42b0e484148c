package avatar

import "testing"

func BenchmarkDraw(b *testing.B) {
	var buffers pngBuffers
	b.ReportAllocs()
	for b.Loop() {
		if _, err := draw(1, &buffers); err != nil {
			b.Fatal(err)
		}
	}
}
