package hitchpost

// AdviceRows are the names of the rows of the table of advice.
func AdviceRows() []string {
	var names []string
	for _, row := range adviceTable() {
		names = append(names, row.name)
	}
	return names
}
