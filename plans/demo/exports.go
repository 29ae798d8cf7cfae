package demo

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"
)

// An export is done at its third look or exportAfter its creation.
const exportAfter = 300 * time.Millisecond

type export struct {
	category string
	created  time.Time
	looks    int
}

type exportView struct {
	ID    string `json:"id"`
	State string `json:"state"`
	File  string `json:"file,omitempty"`
}

// exportCreate takes {"category"}: 202, and where to look for the state.
func (s *shop) exportCreate(w http.ResponseWriter, r *http.Request) {
	var in struct{ Category string }
	if !readJSON(w, r, &in) {
		return
	}
	if s.stock.pages[in.Category] == nil {
		sendError(w, http.StatusUnprocessableEntity, "no such category")
		return
	}
	id := fmt.Sprintf("exp-%06d", s.serial.Add(1))
	s.exports.update(id, func(e *export) { *e = export{category: in.Category, created: s.opts.Now()} })
	w.Header().Set("Location", "/exports/"+id)
	sendJSON(w, http.StatusAccepted, exportView{ID: id, State: "RUNNING"})
}

func (s *shop) exportShow(w http.ResponseWriter, r *http.Request) {
	view := exportView{ID: r.PathValue("id"), State: "RUNNING"}
	found := s.exports.view(view.ID, func(e *export) {
		e.looks++
		if e.looks >= paidPolls || s.opts.Now().Sub(e.created) >= exportAfter {
			view.State, view.File = "DONE", "/exports/"+view.ID+"/file"
		}
	})
	if !found {
		sendError(w, http.StatusNotFound, "no such export")
		return
	}
	sendJSON(w, http.StatusOK, view)
}

// exportFile is the list of a category as CSV.
func (s *shop) exportFile(w http.ResponseWriter, r *http.Request) {
	category, found := "", false
	s.exports.view(r.PathValue("id"), func(e *export) { category, found = e.category, true })
	if !found {
		sendError(w, http.StatusNotFound, "no such export")
		return
	}
	b := []byte("sku,name,price\n")
	for i := range s.stock.products {
		if p := &s.stock.products[i]; category == "" || p.Category == category {
			b = fmt.Appendf(b, "%s,%s,%s\n", p.SKU, p.Name, p.Price.text())
		}
	}
	send(w, http.StatusOK, []string{"text/csv; charset=utf-8"}, b)
}

// upload takes a form with files and tells what it got: 201, 415 or 422.
func (s *shop) upload(w http.ResponseWriter, r *http.Request) {
	parts, err := r.MultipartReader()
	if err != nil {
		sendError(w, http.StatusUnsupportedMediaType, "multipart/form-data is required")
		return
	}
	view := struct {
		ID     string            `json:"id"`
		Fields map[string]string `json:"fields"`
		Files  []echoFile        `json:"files"`
	}{fmt.Sprintf("upl-%06d", s.serial.Add(1)), map[string]string{}, []echoFile{}}
	for range maxParts {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) && len(view.Files) > 0 {
			sendJSON(w, http.StatusCreated, view)
			return
		}
		if err != nil {
			break
		}
		content, err := readPart(p)
		if err != nil {
			break
		}
		if p.FileName() == "" {
			view.Fields[p.FormName()] = string(content)
			continue
		}
		view.Files = append(view.Files, echoFile{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), len(content), hash(content)})
	}
	sendError(w, http.StatusUnprocessableEntity, "a form with at least one file is required")
}

func readPart(p *multipart.Part) ([]byte, error) {
	defer p.Close()
	return io.ReadAll(p)
}

var typeXML = []string{"text/xml; charset=utf-8"}

const (
	envelope = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>%s</soap:Body></soap:Envelope>` + "\n"
	priceAnswer = `<GetPriceResponse xmlns="urn:demo-shop"><sku>%s</sku><price currency="%s">%s</price></GetPriceResponse>`
	soapFault   = `<soap:Fault><faultcode>soap:Client</faultcode><faultstring>%s</faultstring></soap:Fault>`
)

// soap answers GetPrice of the old XML interface, with 500 and a fault if it cannot.
func (s *shop) soap(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Body struct {
			GetPrice *struct {
				SKU string `xml:"sku"`
			} `xml:"urn:demo-shop GetPrice"`
		} `xml:"http://schemas.xmlsoap.org/soap/envelope/ Body"`
	}
	fault := ""
	var p *product
	switch err := xml.NewDecoder(r.Body).Decode(&in); {
	case err != nil || in.Body.GetPrice == nil:
		fault = "GetPrice is required"
	default:
		if p = s.stock.bySKU[in.Body.GetPrice.SKU]; p == nil {
			fault = "no such product"
		}
	}
	var b bytes.Buffer
	if fault != "" {
		fmt.Fprintf(&b, envelope, fmt.Sprintf(soapFault, fault))
		send(w, http.StatusInternalServerError, typeXML, b.Bytes())
		return
	}
	fmt.Fprintf(&b, envelope, fmt.Sprintf(priceAnswer, p.SKU, p.Currency, p.Price.text()))
	send(w, http.StatusOK, typeXML, b.Bytes())
}
