"""The tab Projection: maps of words or sentences in the space of a layer."""

from explorer.projection.map import Map
from explorer.ui.tabs import Tab

TAB = Tab("projection", "Projection", "What lies close to what?", {"Map": [[Map]]})
