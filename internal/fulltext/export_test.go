package fulltext

// Words returns the words of a text.
func Words(text string) (list []string) {
	words(text, func(w string) { list = append(list, w) })
	return list
}
