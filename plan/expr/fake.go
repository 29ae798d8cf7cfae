package expr

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// fakeFunctions make up data that looks real. The lists are short on purpose;
// where values must differ, use uuid() or a counter.
func fakeFunctions() []Function {
	make1 := func(name, doc string, f func(r *rand.Rand) string) Function {
		return Function{Name: "fake." + name, Signature: "fake." + name + "()", Doc: doc, Result: TextType,
			Call: func(s Scope, _ ...any) (any, error) { return f(s.Machine().Rand()), nil }}
	}
	return []Function{
		make1("first_name", "a first name", oneOf(firstNames)),
		make1("last_name", "a last name", oneOf(lastNames)),
		make1("name", "a first and a last name", func(r *rand.Rand) string { return oneOf(firstNames)(r) + " " + oneOf(lastNames)(r) }),
		make1("email", "an address under example.com, example.org or example.net", fakeEmail),
		make1("phone", "a telephone number of the range kept for fiction", func(r *rand.Rand) string { return fmt.Sprintf("+1-%d-555-01%02d", 201+r.IntN(780), r.IntN(100)) }),
		make1("street", "a street with a number", func(r *rand.Rand) string { return fmt.Sprintf("%d %s", 1+r.IntN(999), oneOf(streets)(r)) }),
		make1("city", "a city", oneOf(cities)),
		make1("country", "a country", oneOf(countries)),
		make1("zip", "five digits", func(r *rand.Rand) string { return fmt.Sprintf("%05d", 501+r.IntN(99450)) }),
		make1("company", "a company", func(r *rand.Rand) string { return oneOf(lastNames)(r) + " " + oneOf(companies)(r) }),
		make1("word", "a word", oneOf(words)),
		make1("sentence", "a sentence of six to twelve words", fakeSentence),
		make1("product", "a product", func(r *rand.Rand) string {
			return oneOf(adjectives)(r) + " " + oneOf(materials)(r) + " " + oneOf(things)(r)
		}),
		make1("ip", "an IPv4 address of the ranges kept for documentation", fakeIP),
		make1("user_agent", "a browser's User-Agent", oneOf(userAgents)),
	}
}

func oneOf(list []string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return list[r.IntN(len(list))] }
}

func fakeEmail(r *rand.Rand) string {
	name := strings.ToLower(oneOf(firstNames)(r) + "." + oneOf(lastNames)(r))
	return fmt.Sprintf("%s%d@example.%s", name, r.IntN(10000), oneOf([]string{"com", "org", "net"})(r))
}

func fakeSentence(r *rand.Rand) string {
	list := make([]string, 6+r.IntN(7))
	for i := range list {
		list[i] = oneOf(words)(r)
	}
	text := strings.Join(list, " ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func fakeIP(r *rand.Rand) string {
	return fmt.Sprintf("%s.%d", oneOf([]string{"192.0.2", "198.51.100", "203.0.113"})(r), 1+r.IntN(254))
}

var (
	firstNames = strings.Fields("Ada Alan Alice Amir Ana Anton Aya Ben Bruno Carla Carlos Chen Clara Daniel Dina Elena Elif Emil Emma Eva Felix Femi Fatima Grace Hana Hugo Ida Igor Ines Ivan Jack Jana Jonas Julia Kai Karim Lara Lea Leo Lin Lucas Maria Maya Mia Milan Nadia Nina Noah Nora Olga Omar Oscar Paula Pedro Petra Ravi Rosa Samir Sara Sofia Tara Theo Tom Uma Vera Victor Wei Yara Yuki Zoe")
	lastNames  = strings.Fields("Adams Ahmed Almeida Andersen Baker Bauer Becker Berg Bianchi Brown Carter Chen Clark Costa Cruz Davis Diaz Dubois Evans Fischer Flores Garcia Gomez Green Haddad Hall Hansen Hill Horvat Ito Ivanov Jensen Johnson Jones Kaya Keller Khan Kim King Kowalski Kumar Larsen Lee Lopez Martin Meyer Miller Moore Moreau Mori Nguyen Nowak Okafor Olsen Patel Perez Popov Reed Rossi Sato Schmidt Silva Singh Smith Suzuki Tanaka Taylor Torres Turner Weber White Wilson Wong Yilmaz Young")
	streets    = []string{"Oak Street", "Maple Avenue", "Cedar Lane", "Park Road", "High Street", "Mill Lane", "Station Road", "Church Street", "River Road", "Hill Street", "Lake Drive", "Garden Way", "Market Square", "North Street", "Elm Court", "Forest Avenue", "Bridge Street", "Meadow Lane"}
	cities     = []string{"Amsterdam", "Athens", "Austin", "Bergen", "Berlin", "Bogota", "Boston", "Brno", "Cairo", "Chicago", "Cork", "Delhi", "Denver", "Dublin", "Geneva", "Ghent", "Hamburg", "Helsinki", "Lagos", "Leeds", "Lima", "Lisbon", "Lyon", "Madrid", "Milan", "Nairobi", "Osaka", "Oslo", "Porto", "Prague", "Quito", "Riga", "Rome", "Seattle", "Seoul", "Sydney", "Tallinn", "Tokyo", "Toronto", "Turin", "Vienna", "Warsaw", "Zagreb"}
	countries  = []string{"Argentina", "Australia", "Austria", "Belgium", "Brazil", "Canada", "Chile", "Colombia", "Croatia", "Czechia", "Denmark", "Egypt", "Estonia", "Finland", "France", "Germany", "Greece", "India", "Ireland", "Italy", "Japan", "Kenya", "Latvia", "Mexico", "Netherlands", "Nigeria", "Norway", "Peru", "Poland", "Portugal", "Spain", "Sweden", "Switzerland", "Turkey", "United Kingdom", "United States"}
	companies  = []string{"Group", "Industries", "Labs", "Logistics", "Partners", "Systems", "Trading", "Works", "and Sons", "Foods", "Design", "Energy"}
	adjectives = []string{"Classic", "Compact", "Durable", "Elegant", "Handy", "Light", "Modern", "Practical", "Rustic", "Simple", "Small", "Sturdy"}
	materials  = []string{"Bamboo", "Ceramic", "Copper", "Cotton", "Glass", "Leather", "Linen", "Oak", "Paper", "Steel", "Stone", "Wool"}
	things     = []string{"Bag", "Bench", "Bottle", "Bowl", "Chair", "Clock", "Cup", "Hat", "Keyboard", "Lamp", "Pen", "Shirt", "Shoes", "Table", "Towel", "Watch"}
	words      = strings.Fields("about above across after again air along always animal answer apple around autumn ball bank basket beach become begin below better bird blue boat book bottle bread bridge bright build cabin calm camera careful carry castle center chair circle clean clear clock cloud coast coffee cold color common copper corner country cross daily dance deep desk different door dream early earth east easy empty engine evening every family farm fast field final find first floor flower forest fresh friend garden gentle glass gold grain grass great green ground guest happy harbor heavy hill history horse house island journey kitchen lake lamp large leaf learn letter level light little long market meadow measure memory middle mill mirror modern money month morning mountain music narrow nature near night north number ocean office often open orange order other paper path pencil people picture place plain plant point pretty public quick quiet rain ready river road rock round salt sand school season second shadow shape ship shore short silver simple sister small smooth snow soft song south space spring square star station stone story street strong summer table tall thick thing third through time together tower town train travel tree under valley village voice walk warm water west white wide wind window winter wonder wood word world yellow young")
	userAgents = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
		"Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
	}
)
