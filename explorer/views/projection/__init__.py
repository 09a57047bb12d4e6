"""Projection: where words or sentences lie in the space of a layer."""

from explorer.views.projection.map import Map
from explorer.views.view import Tab

TAB = Tab("projection", "Projection", "What lies close to what?", {"Map": [[Map]]})
