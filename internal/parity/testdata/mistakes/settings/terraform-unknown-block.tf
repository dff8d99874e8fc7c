terraform { 
foo {
}
 }
