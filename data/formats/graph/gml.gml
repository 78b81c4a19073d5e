graph [
  directed 1
  node [
    id 0
    label "Anna"
  ]
  node [
    id 1
    label "The Gull"
  ]
  node [
    id 2
    label "Turku"
  ]
  edge [
    source 0
    target 1
    relation "sails"
    weight 2.0
  ]
  edge [
    source 1
    target 2
    relation "built in"
    weight 2.0
  ]
]
